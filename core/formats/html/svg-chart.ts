import { extent } from '../../stats/extent'
import { escapeHtml } from './escape'
import { QUANTITIES, tickText, type Quantity } from './quantity'

export interface ChartLine {
  label: string
  /** CSS class that carries the colour. */
  className: string
  /** SVG stroke-dasharray, or empty for a solid line. */
  dash: string
  points: readonly { x: number; y: number; low?: number; high?: number; /** More to tell under the pointer. */ about?: string }[]
}

export interface Chart {
  title: string
  xLabel: string
  /** What the axes count: decides units and ticks. */
  x: Quantity
  y: Quantity
  lines: readonly ChartLine[]
}

const WIDTH = 560
const HEIGHT = 300
const LEFT = 78
const RIGHT = 16
const TOP = 12
const BOTTOM = 44
/** Radius of the largest mark. */
const EDGE = 6

/** What a file may claim is wider than what a chart can show: femtoseconds and yottabytes are damage. */
export const drawable = (v: number | undefined): v is number => v !== undefined && v >= 1e-9 && v <= 1e24

/** A range on a logarithmic axis, widened to whole decades' 1-2-5 steps or powers of two, and the ticks within it. */
export interface LogAxis {
  low: number
  high: number
  ticks: number[]
}

/** Steps 1, 2, 5 of each decade that cover the values; at most about eight ticks, thinned to decades beyond. Values must be above zero. */
export function decadeAxis(values: readonly number[]): LogAxis {
  const [min, max] = extent(values)
  const steps: number[] = []
  for (let e = Math.floor(Math.log10(min)) - 1; e <= Math.ceil(Math.log10(max)); e++) for (const m of [1, 2, 5]) steps.push(m * 10 ** e)
  const low = steps.findLast((s) => s <= min * (1 + 1e-12)) ?? min
  const high = steps.find((s) => s >= max * (1 - 1e-12) && s > low) ?? max
  const inside = steps.filter((s) => s >= low && s <= high)
  const decades = inside.filter((s) => Math.abs(Math.log10(s) - Math.round(Math.log10(s))) < 1e-9)
  return { low, high, ticks: thin(inside.length <= 8 ? inside : decades, 8) }
}

/** Even steps that cover the values where they are close together, as ratios are; decades beyond a factor of four. */
export function closeAxis(values: readonly number[]): LogAxis {
  const [min, max] = extent(values)
  if (!(max < 4 * min)) return decadeAxis(values)
  const rough = Math.max((max - min) / 6, max / 100)
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough * (1 - 1e-9))!
  const first = Math.max(1, Math.floor(min / step + 1e-9))
  const ticks = Array.from({ length: Math.max(2, Math.ceil(max / step - 1e-9) - first + 1) }, (_, i) => Number(((first + i) * step).toPrecision(12)))
  return { low: Math.min(min, ticks[0]!), high: Math.max(max, ticks.at(-1)!), ticks }
}

/** Powers of two that cover the values, at most eight of them marked. */
export function powerOfTwoAxis(values: readonly number[]): LogAxis {
  const [min, max] = extent(values)
  const first = Math.floor(Math.log2(min) + 1e-9)
  const last = Math.max(first + 1, Math.ceil(Math.log2(max) - 1e-9))
  return { low: 2 ** first, high: 2 ** last, ticks: thin(Array.from({ length: last - first + 1 }, (_, i) => 2 ** (first + i)), 8) }
}

const thin = (ticks: number[], most: number) => {
  const every = Math.ceil(ticks.length / most)
  return ticks.filter((_, i) => i % every === 0)
}

/** A coordinate as SVG text, to a tenth of a pixel. */
export const n = (value: number) => String(Math.round(value * 10) / 10)

/** Marks within the plot's frame and a mark's radius around it: an inner <svg> cuts off the rest. */
export function clipped(left: number, top: number, right: number, bottom: number, marks: string): string {
  const [x, y, width, height] = [left - EDGE, top - EDGE, right - left + 2 * EDGE, bottom - top + 2 * EDGE]
  return `<svg class="marks" x="${x}" y="${y}" width="${width}" height="${height}" viewBox="${x} ${y} ${width} ${height}">${marks}</svg>`
}

/** A line chart with both axes logarithmic as an <svg> element; empty text when there is nothing above zero to draw. */
export function svgChart(chart: Chart): string {
  const lines = chart.lines.map((line) => ({ ...line, points: line.points.filter((p) => drawable(p.x) && drawable(p.y)) })).filter((line) => line.points.length > 0)
  if (lines.length === 0) return ''
  const all = lines.flatMap((line) => line.points)
  const xAxis = powerOfTwoAxis(all.map((p) => p.x))
  const yAxis = decadeAxis(all.flatMap((p) => [p.y, p.low, p.high].filter((v): v is number => drawable(v))))
  const at = (axis: LogAxis, v: number) => (Math.log(v) - Math.log(axis.low)) / (Math.log(axis.high) - Math.log(axis.low))
  const x = (v: number) => LEFT + at(xAxis, v) * (WIDTH - LEFT - RIGHT)
  const y = (v: number) => HEIGHT - BOTTOM - at(yAxis, v) * (HEIGHT - TOP - BOTTOM)

  const grid = [
    '<g class="axis-y">',
    ...yAxis.ticks.map((t) => `<line class="grid" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${n(y(t))}" y2="${n(y(t))}"/><text x="${LEFT - 8}" y="${n(y(t) + 4)}" text-anchor="end">${escapeHtml(tickText(chart.y, t))}</text>`),
    '</g><g class="axis-x">',
    ...xAxis.ticks.map((t) => `<line class="grid" x1="${n(x(t))}" x2="${n(x(t))}" y1="${TOP}" y2="${HEIGHT - BOTTOM}"/><text x="${n(x(t))}" y="${HEIGHT - BOTTOM + 16}" text-anchor="middle">${escapeHtml(tickText(chart.x, t))}</text>`),
    '</g>',
    `<text x="${n((LEFT + WIDTH - RIGHT) / 2)}" y="${HEIGHT - 8}" text-anchor="middle">${escapeHtml(chart.xLabel)}</text>`,
  ]
  const drawn = lines.map((line, i) => {
    const points = [...line.points].sort((a, b) => a.x - b.x)
    const dash = line.dash ? ` stroke-dasharray="${line.dash}"` : ''
    const path = points.map((p) => `${n(x(p.x))},${n(y(p.y))}`).join(' ')
    const marks = points.map((p) => {
      const whisker = drawable(p.low) && drawable(p.high) ? `<line x1="${n(x(p.x))}" x2="${n(x(p.x))}" y1="${n(y(p.low))}" y2="${n(y(p.high))}"/>` : ''
      return `${whisker}<circle cx="${n(x(p.x))}" cy="${n(y(p.y))}" r="2.5"><title>${escapeHtml(`${[`${line.label}`, `${QUANTITIES[chart.x](p.x)}: ${QUANTITIES[chart.y](p.y)}`, p.about].filter(Boolean).join('\n')}`)}</title></circle>`
    })
    return `<g class="${escapeHtml(line.className)}" data-line="${i}"><polyline points="${path}"${dash}/>${marks.join('')}</g>`
  })
  const place = `data-box="${LEFT},${TOP},${WIDTH - RIGHT},${HEIGHT - BOTTOM}" data-x="${xAxis.low},${xAxis.high}" data-y="${yAxis.low},${yAxis.high}" data-kind-x="${chart.x}" data-kind-y="${chart.y}"`
  return `<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${escapeHtml(chart.title)}" ${place}>${grid.join('')}${clipped(LEFT, TOP, WIDTH - RIGHT, HEIGHT - BOTTOM, drawn.join(''))}</svg>`
}
