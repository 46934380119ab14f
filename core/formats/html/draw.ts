import { CustomChart, LineChart, ScatterChart } from 'echarts/charts'
import { GridComponent } from 'echarts/components'
import { init, use, type EChartsCoreOption } from 'echarts/core'
import { SVGRenderer } from 'echarts/renderers'
import { overlapsOf, type Dash, type MarkSymbol } from '../../analysis/looks'
import { closeAxis, decadeAxis, drawable, powerOfTwoAxis, QUANTITIES, tickText, type LogAxis, type Quantity } from './axes'
import { dotSymbol } from './legend'
import { escapeHtml, printable } from './page'

use([LineChart, ScatterChart, CustomChart, GridComponent, SVGRenderer])

/** A measured value with its interval, and what to show under the pointer beside it. */
interface Mark {
  low?: number
  high?: number
  about?: string
}

export interface ChartLine {
  label: string
  /** Index of the series colour `--s<index>` (charts.ts, `seriesStyle`). */
  color: number
  symbol: MarkSymbol
  dash: Dash
  /** Its entry in the legend; absent: its place among the lines. */
  line?: number
  points: readonly (Mark & { x: number; y: number })[]
}

export interface Chart {
  title: string
  xLabel: string
  /** What the axes count: decides units and ticks. */
  x: Quantity
  y: Quantity
  lines: readonly ChartLine[]
  /** One of small multiples: a smaller picture. */
  small?: boolean
  /** Values that the axes have to hold beside its own, so that multiples have one scale. */
  domain?: { x: readonly number[]; y: readonly number[] }
}

export interface DotRow {
  label: string
  /** One dot each. `line` is its entry in the legend. */
  dots: readonly (Mark & { label: string; color: number; line: number; value: number })[]
}

export interface DotPlot {
  title: string
  quantity: Quantity
  /** Longer row labels, in a wider picture. */
  wide?: boolean
  rows: readonly DotRow[]
}

/** The rectangle of the plot in the picture, in px. */
interface Box {
  left: number
  top: number
  right: number
  bottom: number
}

interface Picture {
  title: string
  width: number
  height: number
  box: Box
  x: { axis: LogAxis; quantity: Quantity }
  y?: { axis: LogAxis; quantity: Quantity }
  /** Series colour of each legend entry. */
  colors: readonly number[]
  option: EChartsCoreOption
  /** What is shown under the pointer, by series and item. */
  tips: readonly (readonly string[] | undefined)[]
}

const MONO = 'JetBrains Mono,ui-monospace,monospace'

/** A mark as the library writes it: its outline around the origin, with its radius and place. */
const MARK = /<path d="([^"]*)" transform="matrix\(([\d.]+),0,0,[\d.]+,([\d.]+),([\d.]+)\)"([^>]*)><\/path>/g
const UNIT_CIRCLE = 'M1 0A1 1 0 1 1 1 -0.1A1 1 0 0 1 1 0'

/**
 * The picture of an option as an <svg> element. Colours are CSS variables, so that one picture serves both themes, and tell
 * the report's script what an element is: --l0, --l1, ... the marks of a legend entry, --gx and --gy lines of the grid, --tx
 * and --ty ticks.
 */
function render({ title, width, height, box, x, y, colors, option, tips }: Picture): string {
  const chart = init(null, null, { renderer: 'svg', ssr: true, width, height })
  let svg: string
  try {
    chart.setOption({ animation: false, textStyle: { fontFamily: 'inherit' }, grid: { left: box.left, top: box.top, right: width - box.right, bottom: height - box.bottom, outerBoundsMode: 'none' }, ...option })
    svg = chart.renderToSVGString()
  } finally {
    chart.dispose()
  }
  const drawing = svg
    // The outer element is written below; style is the page's, and nothing reaches beyond the plot.
    .replace(/\n|^<svg[^>]*>(?:<rect [^>]*><\/rect>)?|<style[^]*?<\/style>|<defs[^]*?<\/defs>|<\/?g\b[^>]*>|<\/svg>\s*$/g, '')
    .replace(/ (?:ecmeta_ssr_type|ecmeta_silent|pointer-events|class|xml:space)="[^"]*"| style="font-size:11px;font-family:inherit;"/g, '')
    // Tenths of a pixel are all that can be seen.
    .replace(/ (?:d|transform)="[^"]*"/g, (attribute) => attribute.replace(/(\.\d)\d+/g, '$1'))
    .replace(MARK, (_all, d: string, r: string, cx: string, cy: string, rest: string) =>
      d === UNIT_CIRCLE ? `<circle cx="${cx}" cy="${cy}" r="${r}"${rest}></circle>` : `<path class="mark" data-at="${cx},${cy}" data-r="${r}" d="${d}" transform="matrix(${r},0,0,${r},${cx},${cy})"${rest}></path>`)
    .replace(/ ecmeta_series_index="(\d+)"(?: ecmeta_data_index="(\d+)")?([^>]*)>/g, (_all, series: string, item: string | undefined, rest: string) => {
      const tip = item === undefined ? undefined : tips[Number(series)]?.[Number(item)]
      return tip === undefined ? `${rest}>` : `${rest}><title>${escapeHtml(tip)}</title>`
    })
  const ends = (axis: LogAxis) => `${axis.low},${axis.high}`
  const place = `data-box="${box.left},${box.top},${box.right},${box.bottom}" data-x="${ends(x.axis)}" data-kind-x="${x.quantity}"${y ? ` data-y="${ends(y.axis)}" data-kind-y="${y.quantity}"` : ''}`
  const style = colors.flatMap((color, line) => (color < 0 ? [] : [`--l${line}:var(--s${color})`])).join(';')
  return `<svg viewBox="0 0 ${width} ${height}" role="img" aria-label="${escapeHtml(title)}" ${place} style="${style}">${drawing}</svg>`
}

const tickLabel = (axis: 'x' | 'y') => ({ color: `var(--t${axis})`, fontSize: 11, fontFamily: 'inherit' })
const gridLine = (axis: 'x' | 'y', customValues?: readonly number[]) => ({ show: true, showMinLine: true, showMaxLine: true, lineStyle: { color: `var(--g${axis})`, width: 1 }, ...(customValues ? { customValues } : {}) })

/** A logarithmic axis with just these ticks. */
const logAxis = (name: 'x' | 'y', { low, high, ticks }: LogAxis, quantity: Quantity) => ({
  type: 'log' as const, min: low, max: high, axisLine: { show: false }, axisTick: { show: false, customValues: ticks }, splitLine: gridLine(name, ticks),
  axisLabel: { ...tickLabel(name), customValues: ticks, showMinLabel: true, showMaxLabel: true, formatter: (value: number) => tickText(quantity, value) },
})

interface CustomApi {
  value(dimension: number): number
  coord(value: [number, number]): [number, number]
}

/** Intervals of marks at [x, y low, x, y high], as lines behind them. */
const intervals = (line: number, data: readonly (readonly [number, number, number, number])[]) => ({
  type: 'custom' as const,
  silent: true,
  clip: false,
  z: 1,
  data,
  renderItem: (_params: unknown, api: CustomApi) => {
    const [x1, y1] = api.coord([api.value(0), api.value(1)])
    const [x2, y2] = api.coord([api.value(2), api.value(3)])
    return { type: 'line' as const, shape: { x1, y1, x2, y2 }, style: { stroke: `var(--l${line})`, lineWidth: 1.5 } }
  },
})

const tipOf = (...lines: (string | undefined)[]) => printable(lines.filter(Boolean).join('\n'))

const LINES = { width: 560, height: 300, box: { left: 78, top: 12, right: 544, bottom: 256 } }
const SMALL_LINES = { width: 320, height: 204, box: { left: 66, top: 10, right: 306, bottom: 162 } }
/** Ticks that one of small multiples has room for. */
const SMALL_TICKS = 5

const MARK_PX = 6

/** A line chart with both axes logarithmic as an <svg> element; empty text when there is nothing above zero to draw. */
export function lineChart(chart: Chart): string {
  const lines = chart.lines.map((line) => ({ ...line, points: line.points.filter((p) => drawable(p.x) && drawable(p.y)).sort((a, b) => a.x - b.x) }))
  const all = lines.flatMap((line) => line.points)
  if (all.length === 0) return ''
  const x = { axis: powerOfTwoAxis([...all.map((p) => p.x), ...(chart.domain?.x.filter(drawable) ?? [])]), quantity: chart.x }
  const y = { axis: decadeAxis([...all.flatMap((p) => [p.y, p.low, p.high].filter(drawable)), ...(chart.domain?.y.filter(drawable) ?? [])]), quantity: chart.y }
  if (chart.small) x.axis.ticks = x.axis.ticks.filter((_, i) => i % Math.ceil(x.axis.ticks.length / SMALL_TICKS) === 0)
  const size = chart.small ? SMALL_LINES : LINES
  const toPx = (value: number) => ((size.box.bottom - size.box.top) * Math.log(value)) / Math.log(y.axis.high / y.axis.low)
  const overlaps = overlapsOf(lines.map(({ color, points }) => ({ color: String(color), data: points.map((p) => [p.x, p.y] as const) })), toPx, MARK_PX)
  const colors: number[] = []
  lines.forEach(({ line, color }, i) => (colors[line ?? i] = color))
  const drawn = lines.flatMap(({ label, symbol, dash, points, line }, at) => {
    const i = line ?? at
    const { dash: stripes, sizes } = overlaps[at]!
    return [
    { tips: undefined, series: intervals(i, points.flatMap((p) => (drawable(p.low) && drawable(p.high) ? [[p.x, p.low, p.x, p.high] as const] : []))) },
    {
      tips: points.map((p) => tipOf(label, `${QUANTITIES[chart.x](p.x)}: ${QUANTITIES[chart.y](p.y)}`, p.about)),
      series: {
        type: 'line' as const, data: points.map((p, j) => ({ value: [p.x, p.y], symbolSize: sizes[j]! })), color: `var(--l${i})`, symbol, showAllSymbol: true, clip: false, emphasis: { disabled: true },
        lineStyle: { width: 1.5, type: stripes ?? dash }, itemStyle: { borderWidth: 0 },
      },
    },
    ]
  })
  return render({
    title: chart.title, ...size, x, y, colors: [...colors].map((color) => color ?? -1), tips: drawn.map(({ tips }) => tips),
    option: {
      xAxis: { ...logAxis('x', x.axis, chart.x), name: printable(chart.xLabel), nameLocation: 'middle', nameGap: 26, nameTextStyle: { color: 'var(--muted)', fontSize: 11, fontFamily: 'inherit' } },
      yAxis: logAxis('y', y.axis, chart.y),
      series: drawn.map(({ series }) => series),
    },
  })
}

const ROW = 22
const AXIS = 26
/** Width, where the plot begins, and the longest row label that fits, in characters. */
const NARROW = { width: 560, left: 190, label: 26 }
/** Px of a character of a row's label, and around it. */
const CHARACTER_PX = 6.7
const LABEL_PX = 22
const WIDE = { width: 860, left: 340, label: 48 }

/** A row per case and a dot per series over one logarithmic axis, as an <svg> element; empty text when there is nothing above zero to draw. */
export function dotPlot(plot: DotPlot): string {
  const { width, left: widest, label: most } = plot.wide ? WIDE : NARROW
  const short = (label: string) => (label.length > most ? `${label.slice(0, most - 1)}…` : label)
  const rows = plot.rows.map((row) => ({ ...row, dots: row.dots.filter((dot) => drawable(dot.value)) })).filter((row) => row.dots.length > 0)
  if (rows.length === 0) return ''
  const left = Math.min(widest, LABEL_PX + CHARACTER_PX * Math.max(...rows.map((row) => row.label.length)))
  const values = rows.flatMap((row) => row.dots.flatMap((dot) => [dot.value, dot.low, dot.high].filter(drawable)))
  const ratio = plot.quantity === 'ratio'
  const axis = ratio ? closeAxis([1, ...values]) : decadeAxis(values)
  const shown = { ...axis, ticks: axis.ticks.length > 6 && !ratio ? axis.ticks.filter((_, i) => i % 2 === 0) : axis.ticks }
  const dots = rows.flatMap(({ label, dots }, row) => dots.map((dot) => ({ ...dot, row, tip: tipOf(label, `${dot.label}: ${QUANTITIES[plot.quantity](dot.value)}`, dot.about) })))
  const colors: number[] = []
  for (const { line, color } of dots) colors[line] = color
  const drawn = colors.flatMap((_, line) => {
    const own = dots.filter((dot) => dot.line === line)
    return [
      { tips: undefined, series: intervals(line, own.flatMap((dot) => (drawable(dot.low) && drawable(dot.high) ? [[dot.low, dot.row, dot.high, dot.row] as const] : []))) },
      { tips: own.map(({ tip }) => tip), series: { type: 'scatter' as const, data: own.map((dot) => [dot.value, dot.row]), color: `var(--l${line})`, symbol: dotSymbol(line), symbolSize: 9, clip: false, emphasis: { disabled: true }, itemStyle: { opacity: 1 } } },
    ]
  })
  const box = { left, top: 8, right: width - 24, bottom: 8 + rows.length * ROW }
  /** Where a ratio says that nothing changed. */
  const unit = {
    type: 'custom' as const, silent: true, clip: false, z: 0, data: [[1, 0]],
    renderItem: (_params: unknown, api: CustomApi) => {
      const [x] = api.coord([1, 0])
      return { type: 'line' as const, shape: { x1: x, x2: x, y1: box.top, y2: box.bottom }, style: { stroke: 'var(--unit)', lineWidth: 1 } }
    },
  }
  const places = rows.map((_, row) => row)
  return render({
    title: plot.title, width, height: box.bottom + AXIS, box, x: { axis, quantity: plot.quantity }, colors: [...colors].map((color) => color ?? 0), tips: drawn.map(({ tips }) => tips),
    option: {
      xAxis: logAxis('x', shown, plot.quantity),
      yAxis: {
        type: 'value' as const, inverse: true, min: -0.5, max: rows.length - 0.5, axisLine: { show: false }, axisTick: { show: false, customValues: places }, splitLine: gridLine('y', places),
        axisLabel: { color: 'var(--text)', fontSize: 11, fontFamily: MONO, margin: 10, customValues: places, formatter: (row: number) => printable(short(rows[row]?.label ?? '')) },
      },
      series: [...drawn.map(({ series }) => series), ...(ratio ? [unit] : [])],
    },
  })
}
