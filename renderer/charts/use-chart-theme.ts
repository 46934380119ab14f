import { computed, type ComputedRef } from 'vue'
import { useSettings } from '../stores/settings'
import { chartTheme } from './theme'
import type { ChartTheme } from './types'

/** Chart colours of the theme in force. */
export function useChartTheme(): ComputedRef<ChartTheme> {
  const settings = useSettings()
  return computed(() => chartTheme(settings.theme))
}
