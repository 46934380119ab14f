import { computed, type ComputedRef } from 'vue'
import type { Settings } from '@core/settings'
import { useSettings } from '../stores/settings'

type Density = NonNullable<Settings['density']>

/** Height of a row in px: of tables of results and comparisons, and of the list of sessions. */
const HEIGHTS: Readonly<Record<Density, { table: number; list: number }>> = { comfortable: { table: 28, list: 32 }, compact: { table: 22, list: 26 } }

/** The height of rows in the density that the user has set. */
export function useRowHeight(kind: 'table' | 'list' = 'table'): ComputedRef<number> {
  const settings = useSettings()
  return computed(() => HEIGHTS[settings.values.density ?? 'comfortable'][kind])
}
