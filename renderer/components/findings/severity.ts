import type { Severity } from '@core/analysis/advice'
import type { IconName } from '../ui/icons'

/** Sign, word and colour of a severity; the word stands beside the sign wherever it is shown. */
export const SEVERITY_LOOKS: Readonly<Record<Severity, { icon: IconName; word: string; tone: string }>> = {
  problem: { icon: 'cross', word: 'Problem', tone: 'text-danger' },
  warning: { icon: 'warning', word: 'Warning', tone: 'text-warning' },
  info: { icon: 'info', word: 'Note', tone: 'text-muted' },
}
