import { csvTable } from '@core/csv'
import { formatBytesPerJoule, formatEnergy, formatFlopsPerJoule, formatInteger, formatTime } from '@core/units'
import { fineTicks, logAxis } from '../drawing/option/axes'
import { linesOf } from '../data/layers'
import type { ChartPoint } from '../data/points'
import type { ChartSeries } from '../data/series'
import { distinctLooks } from '../drawing/option/looks'
import { DIRECT_LABELS, frame, legendOf, tooltipHtml } from '../drawing/option/frame'
import type { ChartTheme } from '../drawing/theme/theme'
import type { ChartUnit } from '../unit'

const MAX_SERIES = 60

type Measured = ChartPoint & { energy: NonNullable<ChartPoint['energy']> }
const isMeasured = (point: ChartPoint): point is Measured => point.energy !== undefined

/** What an axis can show of a call. `of` gives nothing where the operation has none of it. */
interface Axis {
  title: string
  of(point: Measured, size: number): number | undefined
  text(value: number): string
}

const ENERGY: Axis = { title: 'Energy of a call', of: ({ energy }) => energy.joules, text: formatEnergy }
const Y_AXES: Readonly<Record<string, Axis>> = {
  energy: ENERGY,
  edp: { title: 'Energy-delay product', of: ({ energy }) => (energy.joules * energy.callNs) / 1e9, text: (value) => `${value.toExponential(1)} J s` },
  power: { title: 'Mean power', of: ({ energy }) => energy.watts, text: (value) => `${Number(value.toPrecision(3))} W` },
  flops: { title: 'Operations per joule', of: ({ energy, flops }) => (flops > 0 ? flops / energy.joules : undefined), text: formatFlopsPerJoule },
  bytes: { title: 'Traffic per joule', of: ({ energy, bytes }) => (bytes > 0 ? bytes / energy.joules : undefined), text: formatBytesPerJoule },
}
const TIME: Axis = { title: 'Time of a call in the energy windows', of: ({ energy }) => energy.callNs, text: formatTime }
const X_AXES: Readonly<Record<string, Axis>> = { time: TIME, size: { title: 'Size (elements)', of: (_point, size) => size, text: formatInteger } }

export default {
  id: 'energy',
  title: 'Energy',
  about: 'Energy of a call, its energy-delay product, its power or what a joule buys, against its time or size',
  order: 35,
  rare: true,
  narrowing: { readable: 36, facets: ['mode', 'dtype', 'threads', 'backend', 'impl'], frequent: true, fastest: ['backend', 'impl'] },
  takes: (points) => points.filter(({ energy }) => energy !== undefined),
  layers: true,
  controls: () => [
    { id: 'y', label: 'Value', options: Object.entries(Y_AXES).map(([value, { title }]) => ({ value, title })) },
    { id: 'x', label: 'Against', options: [{ value: 'time', title: 'Time of a call' }, { value: 'size', title: 'Size' }] },
  ],
  draw(context) {
    const { series, drawn, note } = linesOf(context, MAX_SERIES, MAX_SERIES)
    return {
      option: energyOption(drawn, context.theme, context.selected, { x: X_AXES[context.values['x'] ?? ''] ?? TIME, y: Y_AXES[context.values['y'] ?? ''] ?? ENERGY, width: context.size.width }),
      empty: context.points.some(isMeasured) ? 'None of these operations does arithmetic. Choose another value.' : 'No result here has the energy of a call. Choose "Energy per call" before a run.',
      ...(note ? { note } : {}),
      csv: () => energyCsv(series),
    }
  },
} satisfies ChartUnit

/** Lines of equal power through these ranges of ns and J, at 1, 2 and 5 times powers of ten W. */
function powerLines(x: { min: number; max: number }, y: { min: number; max: number }, theme: ChartTheme) {
  const watts = fineTicks([y.min / x.max, y.max / x.min].map((joulesPerNs) => joulesPerNs * 1e9)) ?? []
  const at = (power: number, ns: number) => (power * ns) / 1e9
  return {
    silent: true,
    symbol: 'none',
    animation: false,
    lineStyle: { color: theme.muted, width: 1, type: [3, 4], opacity: 0.6 },
    label: { position: 'insideEndTop' as const, fontSize: 10, color: theme.muted, formatter: '{b}' },
    data: watts.flatMap((power) => {
      const [from, to] = [Math.max(x.min, (y.min / power) * 1e9), Math.min(x.max, (y.max / power) * 1e9)]
      return from < to * 0.98 ? [[{ coord: [from, at(power, from)], name: `${power} W` }, { coord: [to, at(power, to)] }]] : []
    }),
  }
}

/** One figure of energy against time or size, both logarithmic. Undefined when there is nothing to draw. */
export function energyOption(measured: readonly ChartSeries[], theme: ChartTheme, selected: ReadonlySet<string>, { x: across = TIME, y: up = ENERGY, width }: { x?: Axis; y?: Axis; width?: number } = {}) {
  const series = distinctLooks(measured, theme)
  const places = series.map(({ points }) =>
    points.flatMap(({ point, size }) => {
      if (!isMeasured(point)) return []
      const [xValue, yValue] = [across.of(point, size), up.of(point, size)]
      return xValue !== undefined && xValue > 0 && yValue !== undefined && yValue > 0 ? [{ point, value: [xValue, yValue, point.id] }] : []
    }),
  )
  const x = fineTicks(places.flat().map(({ value }) => value[0] as number))
  const y = fineTicks(places.flat().map(({ value }) => value[1] as number))
  if (!x || !y) return undefined
  const [wide, high] = [{ min: x[0]!, max: x.at(-1)! }, { min: y[0]!, max: y.at(-1)! }]
  const byId = new Map(places.flat().map(({ point }) => [point.id, point]))
  const labels = series.map(({ label }) => label)
  const base = frame(theme, series.length > DIRECT_LABELS ? [] : labels, width)
  const { legend, height } = legendOf(theme, labels, 10, width)
  return {
    ...base,
    grid: { ...base.grid, right: 32, top: height + 22 },
    legend: { ...legend, itemHeight: 10, show: true },
    tooltip: {
      ...base.tooltip,
      formatter: (item: { value: [number, number, string]; seriesName: string }) => {
        const point = byId.get(item.value[2])
        if (!point) return ''
        const { joules, low, high, watts, callNs } = point.energy
        return tooltipHtml(item.seriesName, [
          ['Energy of a call', formatEnergy(joules)],
          ['95 % CI', low === undefined || high === undefined ? '–' : `${formatEnergy(low)} to ${formatEnergy(high)}`],
          ['Time of a call', formatTime(callNs)],
          ['Mean power', `${watts.toFixed(0)} W`],
          ...(point.flops > 0 ? [['Operations per joule', formatFlopsPerJoule(point.flops / joules)] as const] : []),
          ['Traffic per joule', formatBytesPerJoule(point.bytes / joules)],
          ['Energy-delay product', `${((joules * callNs) / 1e9).toExponential(2)} J s`],
        ])
      },
    },
    xAxis: { ...logAxis(theme, 10, across.title, wide, across.text, undefined, x), nameGap: 28 },
    yAxis: { ...logAxis(theme, 10, up.title, high, up.text, undefined, y), nameGap: 54 },
    series: series.map((one, i) => {
      const color = theme.colorOf(one.backend, one.impl, one.facets.device)
      return {
        type: 'scatter' as const,
        id: one.key,
        name: one.label,
        symbol: one.symbol,
        symbolSize: 8,
        ...(i === 0 && across === TIME && up === ENERGY ? { markLine: powerLines(wide, high, theme) } : {}),
        color,
        itemStyle: { color, opacity: 0.9 },
        data: places[i]!.map(({ point, value }) => (selected.has(point.id) ? { value, symbolSize: 13, itemStyle: { color, borderColor: theme.text, borderWidth: 2 } } : { value })),
        emphasis: { focus: 'series' as const, scale: 1.3 },
        blur: { itemStyle: { opacity: 0.15 } },
      }
    }),
  }
}

/** What the chart shows, as CSV. */
export const energyCsv = (series: readonly ChartSeries[]): string =>
  csvTable(
    ['series', 'size_elements', 'call_ns', 'energy_j', 'ci_low_j', 'ci_high_j', 'power_w', 'flops', 'bytes', 'energy_delay_js'],
    series.flatMap((s) => s.points.flatMap(({ point: { energy: e, flops, bytes }, size }) => (e ? [[s.label, size, e.callNs, e.joules, e.low, e.high, e.watts, flops, bytes, (e.joules * e.callNs) / 1e9]] : []))),
  )
