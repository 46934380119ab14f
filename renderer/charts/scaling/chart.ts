import { looksOf } from '@core/analysis/looks'
import { csvTable } from '@core/csv'
import { formatInteger, formatPercent, formatRatio, formatSize, formatSizeTick, formatTime } from '@core/units'
import { axisStyle, logBounds } from '../drawing/option/axes'
import { frame, legendOf, LINE_WIDTH, tooltipHtml } from '../drawing/option/frame'
import type { ChartTheme } from '../drawing/theme/theme'
import type { ChartUnit } from '../unit'
import { alongOf, scalable, scaleSeries, type Along, type ScaleSeries } from './series'

/** More lines than this in two small plots cannot be told apart. */
const MAX_SERIES = 10

const EMPTY: Readonly<Record<Along, string>> = {
  threads: 'Scaling needs the same case at two or more thread counts. Choose several thread counts of the CPU in Run.',
  size: 'Scaling with the size needs an operation at two or more sizes.',
  rows: 'Scaling with the batch needs an operation on matrices at two or more numbers of rows with the same row length, such as 1024x4096 and 4096x4096.',
}

export default {
  id: 'scaling',
  title: 'Scaling',
  about: 'Speedup and efficiency with more threads, with more rows in a call, or with larger inputs',
  order: 80,
  narrowing: { readable: 6, facets: ['op', 'mode', 'dtype'] },
  takes: (points, picked) => scalable(points, alongOf(points, picked['along'])),
  controls: ({ all }) => [
    { id: 'along', label: 'Along', options: [{ value: 'threads', title: 'With threads' }, { value: 'rows', title: 'With batch rows' }, { value: 'size', title: 'With size' }], preferred: alongOf(all, undefined) },
  ],
  draw({ points, values, theme, selected, size }) {
    const along: Along = alongOf(points, values['along'])
    const { series, omitted } = scaleSeries(points, along, MAX_SERIES)
    return {
      option: scalingOption(series, along, theme, selected, size.width),
      empty: EMPTY[along],
      ...(omitted ? { note: { text: `Largest ${series.length} of ${series.length + omitted} series`, about: 'CSV has every series' } } : {}),
      csv: () => scalingCsv(scaleSeries(points, along, Infinity).series, along),
    }
  },
} satisfies ChartUnit

const WORDS = {
  threads: { axis: 'Threads', gain: 'Speedup', share: 'Parallel efficiency', ideal: 'all threads at work', unit: (at: number) => `${at} ${at === 1 ? 'thread' : 'threads'}` },
  size: { axis: 'Size (elements of the largest tensor)', gain: 'Elements per second, against the smallest', share: 'Share of the best rate', ideal: 'more elements in the same time', unit: (at: number) => `${formatSize(at)} elements` },
  rows: { axis: 'Rows in a call', gain: 'Rows per second, against the smallest', share: 'Share of the best rate', ideal: 'more rows in the same time', unit: (at: number) => `${formatInteger(at)} rows` },
} as const

const IDEAL = 'Ideal'
/** Height of the title over each of the two plots, in px. */
const TITLE_PX = 20

interface Api {
  value(dimension: number): number
  coord(value: [number, number]): [number, number]
}

/** Whisker of one gain; nothing where there is no interval. */
const whisker = (stroke: string) => (_params: unknown, api: Api) => {
  if (!(api.value(1) > 0)) return { type: 'group' as const, children: [] }
  const [x, low] = api.coord([api.value(0), api.value(1)])
  const [, high] = api.coord([api.value(0), api.value(2)])
  return { type: 'line' as const, shape: { x1: x, y1: low, x2: x, y2: high }, style: { stroke, lineWidth: 1.25 } }
}

/** Gain over the smallest on logarithmic axes with the ideal as a dashed line, and beside it the efficiency. Undefined without series. `width` of the plot in px. */
function scalingOption(series: readonly ScaleSeries[], along: Along, theme: ChartTheme, selected: ReadonlySet<string>, width: number) {
  const places = [...new Set(series.flatMap((one) => one.points.map((point) => point.timing.at)))].sort((a, b) => a - b)
  const gains = series.flatMap((one) => one.points.flatMap(({ gain, ideal }) => [gain.ratio, gain.low ?? gain.ratio, gain.high ?? gain.ratio, ideal]))
  const y = logBounds(gains, 2)
  const [least, most] = [places[0], places.at(-1)]
  if (!y || least === undefined || most === undefined) return undefined
  const words = WORDS[along]
  const style = axisStyle(theme)
  const labels = [IDEAL, ...series.map((one) => one.label)]
  const base = frame(theme, [])
  const { legend, height } = legendOf(theme, labels, LINE_WIDTH, width)
  const top = height + TITLE_PX + 6
  const found = new Map(series.flatMap((one) => one.points.map((point) => [point.timing.point.id, { one, point }] as const)))
  const ticks = { customValues: places }
  const x = (gridIndex: number) => ({
    ...style, gridIndex, type: 'log' as const, logBase: 2, min: least / 1.1, max: most * 1.1, name: words.axis, nameGap: 24,
    axisTick: { ...style.axisTick, ...ticks }, axisLabel: { ...style.axisLabel, ...ticks, formatter: (value: number) => (along === 'threads' ? String(value) : formatSizeTick(value)) }, splitLine: { show: false },
  })
  // Of the powers of two at most six, 1x among them.
  const gainTicks = { customValues: Array.from({ length: Math.round(Math.log2(y.max / y.min)) + 1 }, (_, i) => y.min * 2 ** i).filter((value, _, all) => Math.round(Math.log2(value)) % Math.ceil(all.length / 6) === 0) }
  const title = (text: string, left: string | number) => ({ text, left, top: height + 4, textStyle: { color: theme.text, fontSize: 12, fontWeight: 600 as const, fontFamily: theme.fontText }, padding: 0 })
  const shares = series.flatMap((one) => one.points.map((point) => point.efficiency))
  const shareTop = Math.max(1, Math.ceil((shares.reduce((a, b) => Math.max(a, b), 0) - 0.02) * 4) / 4)
  const colorOf = ({ backend, impl, device }: ScaleSeries) => theme.colorOf(backend, impl, device)
  const looks = looksOf(series.map((one) => ({ name: one.label, color: colorOf(one) })))
  const line = (one: ScaleSeries, plot: 0 | 1) => {
    const color = colorOf(one)
    const { symbol, dash } = looks.get(one.label)!
    return {
      type: 'line' as const,
      id: `${one.key}|${plot}`,
      name: one.label,
      xAxisIndex: plot,
      yAxisIndex: plot,
      color,
      symbol,
      symbolSize: 6,
      showAllSymbol: true,
      lineStyle: { width: 1.75, type: dash, color },
      itemStyle: { color, opacity: 1 },
      dimensions: ['at', 'value', 'id'],
      encode: { x: 0, y: 1 },
      emphasis: { focus: 'series' as const },
      data: one.points.map((point) => {
        const value = [point.timing.at, plot ? point.efficiency : point.gain.ratio, point.timing.point.id]
        return selected.has(point.timing.point.id) ? { value, symbolSize: 11, itemStyle: { color, borderColor: theme.text, borderWidth: 2 } } : { value }
      }),
    }
  }
  const dashed = { color: theme.muted, width: 1.25, type: [5, 4] }
  return {
    ...base,
    grid: [
      { left: 56, right: '52%', top, bottom: 40 },
      { left: '53%', right: 24, top, bottom: 40 },
    ],
    title: [title(words.gain, 8), title(words.share, '50%')],
    legend: { ...legend, data: labels },
    tooltip: {
      ...base.tooltip,
      formatter: (item: { value: [number, number, string] }) => {
        const hit = found.get(item.value[2])
        if (!hit) return ''
        const { gain, timing, ideal, efficiency } = hit.point
        return tooltipHtml(`${hit.one.label} · ${words.unit(timing.at)}`, [
          [words.gain, formatRatio(gain.ratio)],
          ['95 % CI', gain.low === undefined || gain.high === undefined ? '–' : `${formatRatio(gain.low)} to ${formatRatio(gain.high)}`],
          [`Ideal (${words.ideal})`, formatRatio(ideal)],
          [words.share, formatPercent(efficiency)],
          ['Median', formatTime(timing.medianNs)],
        ])
      },
    },
    xAxis: [x(0), x(1)],
    yAxis: [
      { ...style, gridIndex: 0, type: 'log' as const, logBase: 2, min: y.min, max: y.max, axisTick: { ...style.axisTick, ...gainTicks }, axisLabel: { ...style.axisLabel, ...gainTicks, formatter: (value: number) => `${value < 1 ? `1/${formatInteger(Math.round(1 / value))}` : formatInteger(Math.round(value))}x` } },
      { ...style, gridIndex: 1, type: 'value' as const, min: 0, max: shareTop, interval: shareTop > 1.5 ? 0.5 : 0.25, axisLabel: { ...style.axisLabel, formatter: (value: number) => `${Math.round(value * 100)} %` } },
    ],
    series: [
      { type: 'line' as const, id: 'ideal gain', name: IDEAL, color: theme.muted, xAxisIndex: 0, yAxisIndex: 0, silent: true, symbol: 'none', lineStyle: dashed, data: places.map((at) => [at, at / least]) },
      ...(along === 'threads' ? [{ type: 'line' as const, id: 'ideal share', name: IDEAL, color: theme.muted, xAxisIndex: 1, yAxisIndex: 1, silent: true, symbol: 'none', lineStyle: dashed, data: places.map((at) => [at, 1]) }] : []),
      ...series.flatMap((one) => [
        line(one, 0),
        line(one, 1),
        {
          type: 'custom' as const, id: `${one.key}|interval`, name: one.label, silent: true, tooltip: { show: false }, xAxisIndex: 0, yAxisIndex: 0, clip: true, dimensions: ['at', 'low', 'high'], encode: { x: 0, y: [1, 2] }, renderItem: whisker(colorOf(one)),
          data: one.points.flatMap(({ timing, gain }) => (gain.low === undefined || gain.high === undefined ? [] : [[timing.at, gain.low, gain.high]])),
        },
      ]),
    ],
  }
}

/** Every point of these series as CSV. */
export const scalingCsv = (series: readonly ScaleSeries[], along: Along): string =>
  csvTable(
    ['series', along, 'gain', 'low', 'high', 'ideal', 'efficiency', 'median_ns'],
    series.flatMap((one) => one.points.map(({ timing, gain, ideal, efficiency }) => [one.label, timing.at, gain.ratio, gain.low, gain.high, ideal, efficiency, timing.medianNs])),
  )
