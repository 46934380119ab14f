import { overlapsOf } from '@core/analysis/looks'
import { formatInteger, formatRatio, formatSizeTick } from '@core/units'
import { axisStyle, logAxis, logBounds, tick } from '../drawing/option/axes'
import { factorAxis, factorTicks } from '../drawing/option/factor-axis'
import type { ChartPoint } from '../data/points'
import { axisTitle, type ChartSeries } from '../data/series'
import { DIRECT_LABELS, frame, legendOf, LINE_WIDTH, lineOf, tooltipHtml, MARK_PX, whiskersOf, type Datum } from '../drawing/option/frame'
import type { ChartTheme } from '../drawing/theme/theme'
import { distinctLooks } from '../drawing/option/looks'
import { panelsOf } from './panels'
import type { Relative, Scale } from './values'

/** A horizontal line, such as a ceiling. */
export interface Level {
  value: number
  /** Beside the line; empty where a neighbour's label speaks for it. */
  label: string
  /** The same where there is little room. */
  short: string
  dash: 'dashed' | 'dotted'
}

/** Points that are not results. */
export interface Marks {
  type: 'scatter'
  id: string
  name: string
  z: number
  symbol: string
  symbolSize: number
  itemStyle: { color: string; borderColor: string; borderWidth: number }
  tooltip: { formatter: (item: { dataIndex: number }) => string }
  data: { value: number[] }[]
}

export interface LinesSpec {
  series: readonly ChartSeries[]
  theme: ChartTheme
  selected: ReadonlySet<string>
  size: { width: number; height: number }
  scale: Scale
  /** Name of the axis of values, how they are written, and px from the ticks to the name. */
  name: string
  format: (value: number) => string
  nameGap: number
  dataOf: (series: ChartSeries) => Datum[]
  /** Rows of a point's tooltip. */
  tip: (point: ChartPoint, value: number, layer: number) => (readonly [string, string])[]
  /** Levels that belong to these series. */
  levels?: (series: readonly ChartSeries[]) => Level[]
  /** Drawn over the lines of a single plot. */
  over?: readonly Marks[]
  relative?: Relative | undefined
}

/** Top of a linear axis: the next step of its decade. */
function linearTop(values: readonly number[]): number {
  const top = values.reduce((a, b) => Math.max(a, b), 0) * 1.06
  const step = 10 ** Math.floor(Math.log10(top || 1))
  return Math.ceil(top / step) * step
}

/** Px of the line that says what the axes of all multiples are. */
const AXES_PX = 20

function multiplesIn({ series, size, theme }: Pick<LinesSpec, 'series' | 'size' | 'theme'>) {
  const found = panelsOf(series, size, (labels) => legendOf(theme, labels, LINE_WIDTH, size.width).height + AXES_PX)
  const named = new Map(distinctLooks(found.series, theme).map((one) => [one.key, one]))
  return { ...found, series: [...named.values()], panels: found.panels.map((panel) => ({ ...panel, series: panel.series.map(({ key }) => named.get(key)!) })) }
}

/** Px that small multiples of these series need where that is more than there is, and px of a row of them: what `Picture` says of both. */
export function linesHeight(spec: Pick<LinesSpec, 'series' | 'size' | 'theme'>): { height?: number; rowHeight?: number } {
  const { height, rowHeight } = multiplesIn(spec)
  return height > spec.size.height + 1 ? { height, ...(rowHeight ? { rowHeight } : {}) } : {}
}

/**
 * Lines against size: one plot with the series named at the ends of their lines, or small multiples with one legend where there are
 * more than can be told apart. The multiples of a logarithmic axis share their scale. Undefined when there is nothing to draw.
 */
export function linesOption(spec: LinesSpec) {
  const { theme, selected, size, relative, tip } = spec
  const { panels, series } = multiplesIn(spec)
  const dataOf = (one: ChartSeries) => (relative ? relative.of(one) : spec.dataOf(one))
  const data = new Map(series.map((one) => [one.key, dataOf(one)]))
  const all = [...data.values()].flat()
  const x = logBounds(all.map(([at]) => at), 2)
  if (!x) return undefined
  const several = panels.length > 0
  const shown = several ? panels : [{ title: '', series }]
  const levels = (own: readonly ChartSeries[]) => (relative ? [] : (spec.levels?.(own) ?? []))
  const valuesOf = (own: readonly ChartSeries[]) => [...own.flatMap((one) => data.get(one.key)!.flatMap(([, y, low, high]) => [y, low, high])), ...levels(own).map(({ value }) => value)].filter((value) => value > 0)
  const everything = valuesOf(series)
  const name = relative ? `Speedup over ${relative.baseline}` : spec.name
  const format = relative ? formatRatio : spec.format
  const style = axisStyle(theme)
  const labels = [...new Set(series.map(({ label }) => label))]
  const base = frame(theme, labels, size.width)
  const found = new Map(series.flatMap((one) => one.points.map((each) => [each.point.id, { ...each, layer: one.layer ?? 0 }] as const)))
  const direct = !several && series.length <= DIRECT_LABELS
  const xName = axisTitle(series)
  const [bottom, top] = [Math.min(...everything), Math.max(...everything)]
  const plotPx = several ? panels[0]!.height : size.height
  const toPx = (value: number) => (spec.scale === 'log' ? (plotPx * Math.log(value / bottom)) / Math.max(Math.log(top / bottom), 1) : (plotPx * value) / top)
  const yAxis = (own: readonly ChartSeries[]) => {
    if (relative && spec.scale === 'log') return { ...factorTicks(theme, factorAxis(everything)), axisLine: style.axisLine, name }
    if (spec.scale === 'log') return { ...logAxis(theme, 10, name, logBounds(everything, 10)!, format, several ? 5 : undefined), axisLine: style.axisLine }
    return { ...style, type: 'value' as const, name, min: 0, max: linearTop(valuesOf(own)), axisLabel: { ...style.axisLabel, formatter: tick(format) } }
  }
  const axes = (i: number, own: readonly ChartSeries[]) => ({
    x: { ...logAxis(theme, 2, several ? '' : xName, x, formatSizeTick, several ? 5 : undefined), nameGap: 28, gridIndex: i },
    y: { ...yAxis(own), ...(several ? { name: '', splitNumber: 3 } : {}), nameGap: spec.nameGap, gridIndex: i },
  })
  const each = shown.map((panel, i) => axes(i, panel.series))
  const text = { fontSize: 11, fontFamily: theme.fontText }
  const { legend: plain, height: legendHeight } = legendOf(theme, labels, LINE_WIDTH, size.width)
  // A name's own dashes, whatever its line does where it coincides with others.
  const legend = { ...plain, data: labels.map((label) => ({ name: label, lineStyle: { type: series.find((one) => one.label === label)!.dash } })) }
  return {
    ...base,
    ...(several ? { grid: panels.map(({ left, top, width, height: h }) => ({ left, top, width, height: h })), legend: { ...legend, show: true } } : { legend: { ...base.legend, ...(direct ? {} : { data: legend.data }) } }),
    title: several
      ? [
          { text: `${name}, against size (${xName.replace(/^Size \(|\)$/g, '')})`, left: 12, top: legendHeight, padding: 0, textStyle: { ...text, fontWeight: 400 as const, color: theme.muted } },
          ...panels.map(({ title, left, top }) => ({ text: title, left, top: top - 17, padding: 0, textStyle: { ...text, fontWeight: 600 as const, color: theme.text } })),
        ]
      : [],
    tooltip: {
      ...base.tooltip,
      formatter: (item: { value: Datum; seriesName: string }) => {
        const one = found.get(item.value?.[4])
        if (!one) return ''
        const { point, size: elements, layer } = one
        return tooltipHtml(several ? `${point.case.op} · ${item.seriesName}` : item.seriesName, [['Size', `${formatInteger(elements)} elements`], ...(relative ? [[`Over ${relative.baseline}`, formatRatio(item.value[1])] as const] : []), ...tip(point, relative ? NaN : item.value[1], layer)])
      },
    },
    xAxis: several ? each.map((axis) => axis.x) : each[0]!.x,
    yAxis: several ? each.map((axis) => axis.y) : each[0]!.y,
    series: shown.flatMap((panel, i) => {
      const at = several ? { xAxisIndex: i, yAxisIndex: i } : {}
      const own = levels(panel.series)
      const overlaps = overlapsOf(panel.series.map((one) => ({ color: theme.colorOf(one.backend, one.impl, one.facets.device), data: data.get(one.key)! })), toPx, MARK_PX)
      return [
        ...panel.series.flatMap((one, rank) => [{ ...lineOf(one, data.get(one.key)!, theme, selected, direct, overlaps[rank]), ...at }, { ...whiskersOf(one, data.get(one.key)!, theme), ...at }]),
        ...(several || relative ? [] : (spec.over ?? [])),
        ...(spec.levels || relative
          ? [{
              type: 'line' as const,
              id: several ? `roofs ${i}` : 'roofs',
              data: [],
              silent: true,
              ...at,
              markLine: {
                silent: true,
                symbol: 'none',
                label: { position: 'insideStartTop' as const, color: theme.muted, fontSize: several ? 10 : 11, textBorderColor: theme.surface, textBorderWidth: 3, formatter: '{b}' },
                data: relative ? [{ yAxis: 1, name: '', lineStyle: { color: theme.muted, type: 'solid' as const, width: 1 } }] : own.map(({ value, label, short, dash }) => ({ yAxis: value, name: several ? short : label, lineStyle: { color: theme.muted, type: dash, width: 1 } })),
              },
            }]
          : []),
      ]
    }),
  }
}
