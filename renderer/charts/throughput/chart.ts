import { csvTable } from '@core/csv'
import { peakKindOf } from '@core/roofline/roofline'
import { formatBandwidth, formatFlops, formatInteger, formatPercent } from '@core/units'
import { linesOf } from '../data/layers'
import type { ChartPoint } from '../data/points'
import { roofGroups, type Roof, roofOfCase, roofsOfCases } from '../data/roofs'
import { groupSeries, type ChartSeries } from '../data/series'
import { intervalText, type Datum } from '../drawing/option/frame'
import { linesHeight, linesOption, type Level } from '../lines/option'
import { MAX_LINES, MULTIPLES } from '../lines/panels'
import { relativeOf, scaleControl, valuesControl, type Relative, type Scale } from '../lines/values'
import type { ChartTheme } from '../drawing/theme/theme'
import type { ChartUnit } from '../unit'

export default {
  id: 'throughput',
  title: 'Throughput',
  about: 'Bandwidth or arithmetic rate against size, under the measured limits',
  order: 20,
  narrowing: MULTIPLES,
  layers: true,
  controls: (context, picked) => {
    const { series } = groupSeries(context.points, MAX_LINES)
    const preferred = preferredRate(series)
    const rate = picked['rate'] === 'flops' || picked['rate'] === 'bandwidth' ? picked['rate'] : preferred
    return [{ id: 'rate', label: 'Rate', options: [{ value: 'bandwidth', title: 'GB/s' }, { value: 'flops', title: 'FLOP/s' }], preferred }, valuesControl(context), scaleControl(preferredScale(series, rate))]
  },
  draw(context) {
    const rate: Rate = context.values['rate'] === 'flops' ? 'flops' : 'bandwidth'
    const { series, drawn, note } = linesOf(context, MAX_LINES)
    const option = throughputOption(drawn, rate, context.roofs, context.theme, context.selected, { size: context.size, datasheets: context.datasheets, scale: context.values['scale'] === 'log' ? 'log' : 'linear', relative: relativeOf(context) })
    return {
      option,
      empty: rate === 'flops' ? 'None of these operations does arithmetic. Choose GB/s instead.' : 'No result here moves data of a known size.',
      ...linesHeight({ series: drawn, size: context.size, theme: context.theme }),
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
  const peaks = new Set(own.map(peakKindOf))
  return roofsOfCases(roofs, own).filter((roof) => (rate === 'bandwidth' ? roof.kind === 'copy' : peaks.has(roof.kind)))
}

/** Series that differ by more than this are drawn on a logarithmic axis, so that the slow ones can be read too. */
const MAX_SPREAD = 20

/** The axis that shows most of these series. */
export function preferredScale(series: readonly ChartSeries[], rate: Rate): Scale {
  const peaks = series.map((s) => dataOf(s, rate)).filter((d) => d.length).map((d) => d.reduce((top, [, y]) => Math.max(top, y), 0))
  return Math.max(...peaks) / Math.min(...peaks) > MAX_SPREAD ? 'log' : 'linear'
}

interface ThroughputOptions {
  size?: { width: number; height: number }
  datasheets?: readonly Roof[]
  scale?: Scale
  relative?: Relative | undefined
}

/** Bandwidth or FLOP/s against size, as one plot or small multiples. Measured ceilings of the devices shown are dashed lines, published ones dotted. */
export function throughputOption(series: readonly ChartSeries[], rate: Rate, roofs: readonly Roof[], theme: ChartTheme, selected: ReadonlySet<string>, { size = { width: 640, height: 400 }, datasheets = [], scale = preferredScale(series, rate), relative }: ThroughputOptions = {}) {
  const format = rate === 'bandwidth' ? formatBandwidth : formatFlops
  const shown = roofsFor(series, rate, roofs)
  const levels = (own: readonly ChartSeries[]): Level[] => {
    const [measured, published] = [roofsFor(own, rate, roofs), roofsFor(own, rate, datasheets)]
    const highest = [...measured, ...published].reduce((top, roof) => Math.max(top, roof.value), 0)
    const top = own.flatMap((s) => dataOf(s, rate)).reduce((most, [, y]) => Math.max(most, y), highest)
    // Labels that are fewer px apart than a line of text share one.
    const near = scale === 'log' ? 1.5 : Math.max(1.06, highest / Math.max(highest / 2, highest - (top * LABEL_PX) / Math.max(40, size.height - 110)))
    const lines = (list: readonly Roof[], word: string, dash: Level['dash']) => roofGroups(list, near, format).flatMap(({ values, label }) => values.map((value, i): Level => ({ value, label: i ? '' : `${label} (${word})`, short: i ? '' : `${word} ${format(value)}`, dash })))
    return [...lines(measured, 'measured', 'dashed'), ...lines(published, 'datasheet', 'dotted')]
  }
  return linesOption({
    series, theme, selected, size, scale, relative, levels,
    name: rate === 'bandwidth' ? 'Bandwidth (minimum memory traffic)' : 'FLOP/s', format, nameGap: 54,
    dataOf: (one) => dataOf(one, rate),
    tip: (point, value, layer) => {
      const roof = layer ? undefined : roofOfCase(shown, point.case, rate === 'bandwidth' ? 'copy' : peakKindOf(point.case))
      const perSecond = (work(point, rate) / point.medianNs) * 1e9
      return [
        [rate === 'bandwidth' ? 'Bandwidth' : 'Rate', format(Number.isFinite(value) ? value : perSecond)],
        ...(roof ? [['Of the measured roof', formatPercent(perSecond / roof.value)] as const] : []),
        ['95 % CI', intervalText(point)],
        ['Samples', formatInteger(point.samples)],
        ['Grade', point.grade ?? '–'],
      ]
    },
  })
}

/** What the chart shows, as CSV. */
const throughputCsv = (series: readonly ChartSeries[]): string =>
  csvTable(
    ['series', 'size_elements', 'bytes_per_second', 'flop_per_second', 'median_ns'],
    series.flatMap((s) => s.points.map(({ point: p, size }) => [s.label, size, (p.bytes / p.medianNs) * 1e9, (p.flops / p.medianNs) * 1e9, p.medianNs])),
  )
