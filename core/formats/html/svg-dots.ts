import { escapeHtml } from './escape'
import { QUANTITIES, tickText, type Quantity } from './quantity'
import { clipped, closeAxis, decadeAxis, drawable, n } from './svg-chart'

export interface DotRow {
  label: string
  /** One dot each; `className` carries the colour. */
  dots: readonly { label: string; className: string; line: number; value: number; low?: number; high?: number; /** More to tell under the pointer. */ about?: string }[]
}

export interface DotPlot {
  title: string
  quantity: Quantity
  /** Longer row labels, in a wider picture. */
  wide?: boolean
  rows: readonly DotRow[]
}

const RIGHT = 24
const TOP = 8
const ROW = 22
const AXIS = 26
/** Width, where the plot begins, and the longest row label that fits, in characters. */
const NARROW = { width: 560, left: 190, label: 26 }
const WIDE = { width: 860, left: 340, label: 48 }

/** A row per case and a dot per series over one logarithmic axis, as an <svg> element; empty text when there is nothing above zero to draw. */
export function svgDots(plot: DotPlot): string {
  const { width, left, label: most } = plot.wide ? WIDE : NARROW
  const short = (label: string) => (label.length > most ? `${label.slice(0, most - 1)}…` : label)
  const rows = plot.rows.map((row) => ({ ...row, dots: row.dots.filter((dot) => drawable(dot.value)) })).filter((row) => row.dots.length > 0)
  if (rows.length === 0) return ''
  const values = rows.flatMap((row) => row.dots.flatMap((dot) => [dot.value, dot.low, dot.high].filter(drawable)))
  const axis = plot.quantity === 'ratio' ? closeAxis([1, ...values]) : decadeAxis(values)
  const bottom = TOP + rows.length * ROW
  const x = (v: number) => left + ((Math.log(v) - Math.log(axis.low)) / (Math.log(axis.high) - Math.log(axis.low))) * (width - left - RIGHT)
  const ticks = axis.ticks.length > 6 && plot.quantity !== 'ratio' ? axis.ticks.filter((_, i) => i % 2 === 0) : axis.ticks
  const grid = ticks.map((t) => `<line class="grid${plot.quantity === 'ratio' && t === 1 ? ' unit' : ''}" x1="${n(x(t))}" x2="${n(x(t))}" y1="${TOP}" y2="${bottom}"/><text x="${n(x(t))}" y="${bottom + 16}" text-anchor="middle">${escapeHtml(tickText(plot.quantity, t))}</text>`)
  const drawn = rows.map((row, i) => {
    const y = TOP + (i + 0.5) * ROW
    const dots = row.dots.map((dot) => {
      const whisker = drawable(dot.low) && drawable(dot.high) ? `<line x1="${n(x(dot.low))}" x2="${n(x(dot.high))}" y1="${y}" y2="${y}"/>` : ''
      return `<g class="${escapeHtml(dot.className)}" data-line="${dot.line}">${whisker}<circle cx="${n(x(dot.value))}" cy="${y}" r="4"><title>${escapeHtml([row.label, `${dot.label}: ${QUANTITIES[plot.quantity](dot.value)}`, dot.about].filter(Boolean).join('\n'))}</title></circle></g>`
    })
    const name = `<text class="row" x="${left - 10}" y="${y + 4}" text-anchor="end">${escapeHtml(short(row.label))}</text><line class="grid" x1="${left}" x2="${width - RIGHT}" y1="${y}" y2="${y}"/>`
    return { name, dots: dots.join('') }
  })
  const place = `data-box="${left},${TOP},${width - RIGHT},${bottom}" data-x="${axis.low},${axis.high}" data-kind-x="${plot.quantity}"`
  const names = drawn.map(({ name }) => name).join('')
  return `<svg viewBox="0 0 ${width} ${bottom + AXIS}" role="img" aria-label="${escapeHtml(plot.title)}" ${place}><g class="axis-x">${grid.join('')}</g>${names}${clipped(left, TOP, width - RIGHT, bottom, drawn.map(({ dots }) => dots).join(''))}</svg>`
}
