import { csvTable } from '@core/csv'
import { formatSizeTick, formatTime } from '@core/units'
import { axisStyle, logAxis, logBounds } from '../drawing/axes'
import { findCrossovers, sentenceOf } from '../crossover/chart'
import { LINES } from '../data/focus'
import { linesOf } from '../data/layers'
import { axisTitle, type ChartSeries } from '../data/series'
import { DIRECT_LABELS, frame, intervalText, lineOf, tooltipHtml, whiskersOf, type Datum } from '../drawing/frame'
import type { ChartTheme } from '../drawing/theme'
import type { ChartUnit } from '../unit'

/** With more lines than this rings would stand everywhere; the chart of crossovers has them all. */
const MAX_CROSSED = 8

export default {
  id: 'time',
  title: 'Time',
  about: 'Median time per call against size, with its 95 % CI',
  order: 10,
  narrowing: LINES,
  layers: true,
  draw(context) {
    const { series, drawn, note } = linesOf(context, 24)
    const crossings = drawn.length > MAX_CROSSED ? [] : findCrossovers(context.points).found.map((one) => ({ size: one.at.size, ns: one.at.ns, sentence: `${one.what}: ${sentenceOf(one)}` }))
    return { option: timeVsSizeOption(drawn, context.theme, context.selected, context.size.width, crossings), empty: 'No result here has a size that this chart knows. The table shows them all.', ...(note ? { note } : {}), csv: () => timeVsSizeCsv(series) }
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
 * Median time per call against size, both logarithmic, with the 95 % CI of each median as whiskers.
 * Rings mark where lines change places. Undefined when there is nothing to draw.
 */
export function timeVsSizeOption(series: readonly ChartSeries[], theme: ChartTheme, selected: ReadonlySet<string>, width?: number, crossings: readonly Crossing[] = []) {
  const data = series.map(dataOf)
  const x = logBounds(data.flatMap((d) => d.map(([size]) => size)), 2)
  const y = logBounds(data.flatMap((d) => d.flatMap(([, median, low, high]) => [median, low, high])), 10)
  if (!x || !y) return undefined
  const points = new Map(series.flatMap((s) => s.points.map((p) => [p.point.id, p] as const)))
  const base = frame(theme, series.map((s) => s.label), width)
  return {
    ...base,
    tooltip: {
      ...base.tooltip,
      formatter: (item: { value: Datum; seriesName: string }) => {
        const found = points.get(item.value[4])
        if (!found) return ''
        const { point, size } = found
        return tooltipHtml(item.seriesName, [
          ['Size', `${size.toLocaleString('en')} elements`],
          ['Median', formatTime(point.medianNs)],
          ['95 % CI', intervalText(point)],
          ['Samples', point.samples.toLocaleString('en')],
          ['Grade', point.grade ?? '–'],
        ])
      },
    },
    xAxis: { ...logAxis(theme, 2, axisTitle(series), x, formatSizeTick), nameGap: 28 },
    yAxis: { ...logAxis(theme, 10, 'Median time per call', y, formatTime), nameGap: 48, axisLine: axisStyle(theme).axisLine },
    series: [
      ...series.flatMap((s, i) => [lineOf(s, data[i]!, theme, selected, series.length <= DIRECT_LABELS), whiskersOf(s, data[i]!, theme)]),
      {
        type: 'scatter' as const,
        id: 'crossings',
        name: 'Crossover',
        z: 4,
        symbol: 'circle',
        symbolSize: 9,
        itemStyle: { color: 'transparent', borderColor: theme.text, borderWidth: 1.5 },
        tooltip: { formatter: (item: { dataIndex: number }) => tooltipHtml(crossings[item.dataIndex]?.sentence ?? '', [['Both take there', formatTime(crossings[item.dataIndex]?.ns)]]) },
        data: crossings.map(({ size, ns }) => ({ value: [size, ns] })),
      },
    ],
  }
}

/** What the chart shows, as CSV. */
export const timeVsSizeCsv = (series: readonly ChartSeries[]): string =>
  csvTable(
    ['series', 'size_elements', 'median_ns', 'ci_low_ns', 'ci_high_ns', 'samples'],
    series.flatMap((s) => s.points.map(({ point: p, size }) => [s.label, size, p.medianNs, p.ciLowNs, p.ciHighNs, p.samples])),
  )
