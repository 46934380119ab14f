import { csvTable } from '@core/csv'
import { peakKindOf } from '@core/roofline/roofline'
import { formatBandwidth, formatFlops, formatSizeTick } from '@core/units'
import { axisStyle, logAxis, logBounds, tick } from '../drawing/axes'
import { LINES } from '../data/focus'
import { linesOf } from '../data/layers'
import type { ChartPoint } from '../data/points'
import { roofGroups, type Roof } from '../data/roofs'
import { groupSeries, axisTitle, type ChartSeries } from '../data/series'
import { DIRECT_LABELS, frame, intervalText, lineOf, tooltipHtml, whiskersOf, type Datum } from '../drawing/frame'
import type { ChartTheme } from '../drawing/theme'
import type { ChartUnit } from '../unit'

export default {
  id: 'throughput',
  title: 'Throughput',
  about: 'Bandwidth or arithmetic rate against size, under the measured limits',
  order: 20,
  narrowing: LINES,
  layers: true,
  controls: ({ points }) => [{ id: 'rate', label: 'Rate', options: [{ value: 'bandwidth', title: 'GB/s' }, { value: 'flops', title: 'FLOP/s' }], preferred: preferredRate(groupSeries(points).series) }],
  draw(context) {
    const rate: Rate = context.values['rate'] === 'flops' ? 'flops' : 'bandwidth'
    const { series, drawn, note } = linesOf(context, 24)
    return {
      option: throughputOption(drawn, rate, context.roofs, context.theme, context.selected, context.size),
      empty: rate === 'flops' ? 'None of these operations does arithmetic. Choose GB/s instead.' : 'No result here moves data of a known size.',
      ...(note ? { note } : {}),
      csv: () => throughputCsv(series),
    }
  },
} satisfies ChartUnit

/** What is counted per second: bytes of minimum memory traffic, or floating-point operations. */
type Rate = 'bandwidth' | 'flops'

/** FLOP per byte above which an op is judged by its arithmetic rather than its traffic, when nothing else is chosen. */
const COMPUTE_INTENSITY = 8

/** Height of a label's line. */
const LABEL_PX = 16

const work = (point: ChartPoint, rate: Rate) => (rate === 'bandwidth' ? point.bytes : point.flops)

/** FLOP/s where most of the points do much arithmetic per byte, else bandwidth. */
export function preferredRate(series: readonly ChartSeries[]): Rate {
  const points = series.flatMap((s) => s.points)
  const heavy = points.filter(({ point }) => point.bytes > 0 && point.flops / point.bytes > COMPUTE_INTENSITY)
  return points.length > 0 && heavy.length * 2 > points.length ? 'flops' : 'bandwidth'
}

const dataOf = (series: ChartSeries, rate: Rate): Datum[] =>
  series.points
    .filter(({ point }) => work(point, rate) > 0)
    .map(({ point, size }) => {
      const perSecond = (ns: number | undefined) => (ns === undefined ? NaN : (work(point, rate) / ns) * 1e9)
      return [size, perSecond(point.medianNs), perSecond(point.ciHighNs), perSecond(point.ciLowNs), point.id]
    })

/** Roofs of the session's devices shown, for this rate: the copy bandwidth, or the peaks of what computes the cases shown. */
function roofsFor(series: readonly ChartSeries[], rate: Rate, roofs: readonly Roof[]): Roof[] {
  const own = series.filter((s) => !s.layer).flatMap((s) => s.points.map((p) => p.point.case))
  const devices = new Set(own.map((c) => c.device))
  const peaks = new Set(own.map(peakKindOf))
  return roofs.filter((roof) => devices.has(roof.device) && (rate === 'bandwidth' ? roof.kind === 'copy' : peaks.has(roof.kind)))
}

/**
 * Bandwidth or FLOP/s against size. The rate axis starts at zero unless the series differ by more than 20 times, when
 * it is logarithmic so that the slow ones can be read too. Measured roofs of the devices shown are labelled lines.
 */
export function throughputOption(series: readonly ChartSeries[], rate: Rate, roofs: readonly Roof[], theme: ChartTheme, selected: ReadonlySet<string>, size: { width: number; height: number } = { width: 640, height: 400 }) {
  const data = series.map((s) => dataOf(s, rate))
  const x = logBounds(data.flatMap((d) => d.map(([size]) => size)), 2)
  if (!x) return undefined
  const format = rate === 'bandwidth' ? formatBandwidth : formatFlops
  const shown = roofsFor(series, rate, roofs)
  const peaks = data.filter((d) => d.length).map((d) => d.reduce((top, [, y]) => Math.max(top, y), 0))
  const spread = Math.max(...peaks) / Math.min(...peaks)
  const values = [...data.flatMap((d) => d.map(([, y]) => y)), ...shown.map((roof) => roof.value)]
  const top = values.reduce((a, b) => Math.max(a, b), 0)
  const logarithmic = spread > 20
  const points = new Map(series.flatMap((s) => s.points.map((p) => [p.point.id, { ...p, layer: s.layer }] as const)))
  const base = frame(theme, series.map((s) => s.label), size.width)
  const name = rate === 'bandwidth' ? 'Bandwidth (minimum memory traffic)' : 'FLOP/s'
  // Labels of roofs that are fewer px apart than a line of text share one.
  const room = Math.max(40, size.height - 110)
  const highest = shown.reduce((a, roof) => Math.max(a, roof.value), 0)
  const near = logarithmic ? 1.5 : Math.max(1.06, highest / Math.max(highest / 2, highest - (top * LABEL_PX) / room))
  const style = axisStyle(theme)
  const linear = { ...style, type: 'value' as const, name, min: 0, max: Math.ceil((top * 1.06) / 10 ** Math.floor(Math.log10(top))) * 10 ** Math.floor(Math.log10(top)), axisLabel: { ...style.axisLabel, formatter: tick(format) } }
  return {
    ...base,
    tooltip: {
      ...base.tooltip,
      formatter: (item: { value: Datum; seriesName: string }) => {
        const found = points.get(item.value[4])
        if (!found) return ''
        const { point, size, layer } = found
        const roof = layer ? undefined : shown.find((r) => r.device === point.case.device && (rate === 'bandwidth' || r.kind === `flops:${point.case.dtype}`))
        return tooltipHtml(item.seriesName, [
          ['Size', `${size.toLocaleString('en')} elements`],
          [rate === 'bandwidth' ? 'Bandwidth' : 'Rate', format(item.value[1])],
          ...(roof ? [['Of the measured roof', `${((item.value[1] / roof.value) * 100).toFixed(1)} %`] as const] : []),
          ['95 % CI', intervalText(point)],
          ['Samples', point.samples.toLocaleString('en')],
          ['Grade', point.grade ?? '–'],
        ])
      },
    },
    xAxis: { ...logAxis(theme, 2, axisTitle(series), x, formatSizeTick), nameGap: 28 },
    yAxis: { ...(logarithmic ? logAxis(theme, 10, name, logBounds(values, 10)!, format) : linear), nameGap: 54 },
    series: [
      ...series.flatMap((s, i) => [lineOf(s, data[i]!, theme, selected, series.length <= DIRECT_LABELS), whiskersOf(s, data[i]!, theme)]),
      {
        type: 'line' as const,
        id: 'roofs',
        data: [],
        silent: true,
        markLine: {
          silent: true,
          symbol: 'none',
          lineStyle: { color: theme.muted, type: 'dashed' as const, width: 1 },
          label: { position: 'insideStartTop' as const, color: theme.muted, fontSize: 11, textBorderColor: theme.surface, textBorderWidth: 3, formatter: '{b}' },
          data: roofGroups(shown, near, format).flatMap(({ values: own, label }) => own.map((yAxis, i) => ({ yAxis, name: i ? '' : `${label} (measured)` }))),
        },
      },
    ],
  }
}

/** What the chart shows, as CSV. */
const throughputCsv = (series: readonly ChartSeries[]): string =>
  csvTable(
    ['series', 'size_elements', 'bytes_per_second', 'flop_per_second', 'median_ns'],
    series.flatMap((s) => s.points.map(({ point: p, size }) => [s.label, size, (p.bytes / p.medianNs) * 1e9, (p.flops / p.medianNs) * 1e9, p.medianNs])),
  )
