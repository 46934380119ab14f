import { looksOf } from '@core/analysis/looks'
import type { ChartSeries } from '../../data/series'
import type { ChartTheme } from '../theme/theme'

/**
 * The series of one chart so that no two names look alike (core/analysis/looks.ts). A mark that stands for an operation, because the
 * names say it, stays. A name looks the same in every plot of the chart.
 */
export function distinctLooks(series: readonly ChartSeries[], theme: ChartTheme): ChartSeries[] {
  const looks = looksOf(series.map((one) => ({ name: one.label, color: theme.colorOf(one.backend, one.impl, one.facets.device), dash: one.dash })))
  const byOperation = series.some(({ naming, facets, label }) => naming.includes('op') && label.split(' · ').includes(facets.op))
  return series.map((one) => {
    const { dash, symbol } = looks.get(one.label)!
    return { ...one, dash, ...(byOperation ? {} : { symbol }) }
  })
}
