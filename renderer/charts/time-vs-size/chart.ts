import { csvTable } from '@core/csv'
import { formatInteger, formatTime } from '@core/units'
import { findCrossovers, sentenceOf } from '../crossover/chart'
import { linesOf } from '../data/layers'
import type { ChartSeries } from '../data/series'
import { intervalText, tooltipHtml, type Datum } from '../drawing/option/frame'
import { linesHeight, linesOption } from '../lines/option'
import { MAX_LINES, MULTIPLES } from '../lines/panels'
import { relativeOf, scaleControl, valuesControl, type Relative, type Scale } from '../lines/values'
import type { ChartTheme } from '../drawing/theme/theme'
import type { ChartUnit } from '../unit'

/** With more lines than this rings would stand everywhere; the chart of crossovers has them all. */
const MAX_CROSSED = 8

export default {
  id: 'time',
  title: 'Time',
  about: 'Median time per call against size, with its 95 % CI',
  order: 10,
  narrowing: MULTIPLES,
  layers: true,
  controls: (context) => [valuesControl(context), scaleControl('log')],
  draw(context) {
    const { series, drawn, note } = linesOf(context, MAX_LINES)
    const crossings = drawn.length > MAX_CROSSED ? [] : findCrossovers(context.points).found.map((one) => ({ size: one.at.size, ns: one.at.ns, sentence: `${one.what}: ${sentenceOf(one)}` }))
    const option = timeVsSizeOption(drawn, context.theme, context.selected, { size: context.size, crossings, scale: context.values['scale'] === 'linear' ? 'linear' : 'log', relative: relativeOf(context) })
    return { option, empty: 'No result here has a size that this chart can place. The table shows them all.', ...linesHeight({ series: drawn, size: context.size, theme: context.theme }), ...(note ? { note } : {}), csv: () => timeVsSizeCsv(series) }
  },
} satisfies ChartUnit

const dataOf = (series: ChartSeries): Datum[] =>
  series.points.map(({ point, size }) => [size, point.medianNs, point.ciLowNs ?? NaN, point.ciHighNs ?? NaN, point.id])

/** A point where two of the lines change places, in elements and ns, and what it means. */
export interface Crossing {
  size: number
  ns: number
  sentence: string
}

/**
 * Median time per call against size with the 95 % CI of each median as whiskers, as one plot or small multiples.
 * Rings mark where lines change places. Undefined when there is nothing to draw.
 */
export function timeVsSizeOption(series: readonly ChartSeries[], theme: ChartTheme, selected: ReadonlySet<string>, { size = { width: 640, height: 400 }, crossings = [], scale = 'log', relative }: TimeOptions = {}) {
  return linesOption({
    series, theme, selected, size, scale, relative,
    name: 'Median time per call', format: formatTime, nameGap: 48, dataOf,
    tip: (point) => [['Median', formatTime(point.medianNs)], ['95 % CI', intervalText(point)], ['Samples', formatInteger(point.samples)], ['Grade', point.grade ?? '–']],
    over: [
      {
        type: 'scatter' as const,
        id: 'crossings',
        name: 'Crossover',
        z: 4,
        symbol: 'circle',
        symbolSize: 9,
        itemStyle: { color: 'transparent', borderColor: theme.text, borderWidth: 1.5 },
        tooltip: { formatter: (item: { dataIndex: number }) => tooltipHtml(crossings[item.dataIndex]?.sentence ?? '', [['Both take there', formatTime(crossings[item.dataIndex]?.ns)]]) },
        data: crossings.map(({ size: at, ns }) => ({ value: [at, ns] })),
      },
    ],
  })
}

interface TimeOptions {
  size?: { width: number; height: number }
  crossings?: readonly Crossing[]
  scale?: Scale
  relative?: Relative | undefined
}

/** What the chart shows, as CSV. */
export const timeVsSizeCsv = (series: readonly ChartSeries[]): string =>
  csvTable(
    ['series', 'size_elements', 'median_ns', 'ci_low_ns', 'ci_high_ns', 'samples'],
    series.flatMap((s) => s.points.map(({ point: p, size }) => [s.label, size, p.medianNs, p.ciLowNs, p.ciHighNs, p.samples])),
  )
