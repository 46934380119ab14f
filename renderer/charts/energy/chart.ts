import { csvTable } from '@core/csv'
import { formatBytesPerJoule, formatEnergy, formatFlopsPerJoule, formatTime } from '@core/units'
import { logAxis, logBounds } from '../drawing/axes'
import { linesOf } from '../data/layers'
import type { ChartSeries } from '../data/series'
import { DIRECT_LABELS, frame, legendOf, tooltipHtml } from '../drawing/frame'
import type { ChartTheme } from '../drawing/theme'
import type { ChartUnit } from '../unit'

const MAX_SERIES = 60

export default {
  id: 'energy',
  title: 'Energy',
  about: 'Energy of a call against its time: along a rising diagonal the power is the same',
  order: 35,
  rare: true,
  narrowing: { readable: 36, facets: ['mode', 'dtype', 'threads', 'backend', 'impl'], frequent: true, fastest: ['backend', 'impl'] },
  takes: (points) => points.filter(({ energy }) => energy !== undefined),
  layers: true,
  draw(context) {
    const { series, drawn, note } = linesOf(context, MAX_SERIES, MAX_SERIES)
    return {
      option: energyOption(drawn, context.theme, context.selected, context.size.width),
      empty: 'No result here has the energy of a call. Choose "Energy per call" before a run.',
      ...(note ? { note } : {}),
      csv: () => energyCsv(series),
    }
  },
} satisfies ChartUnit

/** Energy of a call against its time in the energy windows, both logarithmic. Undefined when there is nothing to draw. */
export function energyOption(series: readonly ChartSeries[], theme: ChartTheme, selected: ReadonlySet<string>, width?: number) {
  const all = series.flatMap(({ points }) => points.flatMap(({ point }) => (point.energy ? [point] : [])))
  const x = logBounds(all.map(({ energy }) => energy!.callNs), 10)
  const y = logBounds(all.map(({ energy }) => energy!.joules), 10)
  if (!x || !y) return undefined
  const byId = new Map(all.map((point) => [point.id, point]))
  const labels = series.map(({ label }) => label)
  const base = frame(theme, series.length > DIRECT_LABELS ? [] : labels, width)
  const { legend, height } = legendOf(theme, labels, 10, width)
  return {
    ...base,
    grid: { ...base.grid, right: 20, top: height + 22 },
    legend: { ...legend, show: true },
    tooltip: {
      ...base.tooltip,
      formatter: (item: { value: [number, number, string]; seriesName: string }) => {
        const point = byId.get(item.value[2])
        if (!point?.energy) return ''
        const { joules, low, high, watts, callNs } = point.energy
        return tooltipHtml(item.seriesName, [
          ['Energy of a call', formatEnergy(joules)],
          ['95 % CI', low === undefined || high === undefined ? '–' : `${formatEnergy(low)} to ${formatEnergy(high)}`],
          ['Time of a call', formatTime(callNs)],
          ['Mean power', `${watts.toFixed(0)} W`],
          ...(point.flops > 0 ? [['Operations per joule', formatFlopsPerJoule(point.flops / joules)] as const] : []),
          ['Traffic per joule', formatBytesPerJoule(point.bytes / joules)],
        ])
      },
    },
    xAxis: { ...logAxis(theme, 10, 'Time of a call in the energy windows', x, formatTime), nameGap: 28 },
    yAxis: { ...logAxis(theme, 10, 'Energy of a call', y, formatEnergy), nameGap: 54 },
    series: series.map((one) => {
      const color = theme.colorOf(one.backend, one.impl)
      return {
        type: 'scatter' as const,
        id: one.key,
        name: one.label,
        symbol: one.symbol,
        symbolSize: 8,
        color,
        itemStyle: { color, opacity: 0.9 },
        data: one.points.flatMap(({ point }) => {
          if (!point.energy) return []
          const value = [point.energy.callNs, point.energy.joules, point.id]
          return [selected.has(point.id) ? { value, symbolSize: 13, itemStyle: { color, borderColor: theme.text, borderWidth: 2 } } : { value }]
        }),
        emphasis: { focus: 'series' as const, scale: 1.3 },
        blur: { itemStyle: { opacity: 0.15 } },
      }
    }),
  }
}

/** What the chart shows, as CSV. */
export const energyCsv = (series: readonly ChartSeries[]): string =>
  csvTable(
    ['series', 'size_elements', 'call_ns', 'energy_j', 'ci_low_j', 'ci_high_j', 'power_w', 'flops', 'bytes'],
    series.flatMap((s) => s.points.flatMap(({ point: { energy: e, flops, bytes }, size }) => (e ? [[s.label, size, e.callNs, e.joules, e.low, e.high, e.watts, flops, bytes]] : []))),
  )
