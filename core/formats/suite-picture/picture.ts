import { markPath } from '../../analysis/looks'
import { seriesColor, seriesKey } from '../../backends'
import type { SuiteFigure } from '../../suites/report/figure'
import { dotPlot } from '../html/draw'
import { dotSymbol } from '../html/legend'
import { escapeHtml } from '../html/page'

/** Colours of a picture that stands by itself, on white: what the report's style sheet says there. */
const COLORS: Readonly<Record<string, string>> = { text: '#1b1f24', muted: '#5f6672', unit: '#5f6672', gx: '#d9dde3', gy: '#d9dde3', tx: '#5f6672', ty: '#5f6672' }
const WIDTH = 860
const MARGIN = 16
const LINE = 18
/** Widths of a letter of the legend, and of its dot with the space around it, in px. */
const LETTER = 6.7
const SAMPLE = 34

interface Picture {
  title: string
  /** What stands below the title. */
  lines: readonly string[]
  figure: SuiteFigure
}

/** A whole SVG file: title, legend, and a dot plot on a white ground. Nothing in it is loaded from elsewhere. */
export function pictureSvg({ title, lines, figure: { quantity, impls, rows } }: Picture): string {
  const colors = impls.map(({ case: c }) => seriesColor(seriesKey(c), 'light'))
  const indexOf = new Map(impls.map(({ name }, i) => [name, i]))
  const plot = dotPlot({ title, quantity, wide: true, rows: rows.map(({ label, dots }) => ({ label, dots: dots.map(({ impl, ...dot }) => ({ ...dot, label: impl, color: indexOf.get(impl)!, line: indexOf.get(impl)! })) })) })
  const [, height = '0', inner = ''] = /^<svg viewBox="0 0 \d+ (\d+)"[^>]*>([^]*)<\/svg>$/.exec(plot) ?? []
  const colored = inner.replace(/var\(--(l(\d+)|\w+)\)/g, (_all, name: string, line: string | undefined) => (line === undefined ? COLORS[name] : colors[Number(line)]) ?? COLORS['text']!)
  const head = [...lines, ...(inner === '' ? ['No case was measured and passed verification, so there is nothing to draw.'] : [])]
  const legend = legendOf(impls.map(({ name }) => name), colors, 34 + head.length * LINE)
  const top = legend.bottom + 8
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${top + Number(height) + MARGIN}" width="${WIDTH}" height="${top + Number(height) + MARGIN}" font-family="Inter, system-ui, sans-serif" font-size="11" role="img" aria-label="${escapeHtml(title)}">
<rect width="100%" height="100%" fill="#fff"/>
<text x="${MARGIN}" y="26" font-size="16" font-weight="600" fill="${COLORS['text']}">${escapeHtml(title)}</text>
${head.map((line, i) => `<text x="${MARGIN}" y="${46 + i * LINE}" font-size="12" fill="${COLORS['muted']}">${escapeHtml(line)}</text>`).join('\n')}
${legend.svg}
<g transform="translate(0 ${top})">${colored}</g>
</svg>
`
}

/** The legend in as many lines as it takes; `top`: where it begins. */
function legendOf(names: readonly string[], colors: readonly string[], top: number): { svg: string; bottom: number } {
  let [x, y] = [MARGIN, top + LINE]
  const items = names.map((name, i) => {
    const width = SAMPLE + name.length * LETTER
    if (x > MARGIN && x + width > WIDTH - MARGIN) [x, y] = [MARGIN, y + LINE]
    const item = `<path d="${markPath(dotSymbol(i))}" transform="translate(${x} ${y - 8}) scale(.8)" fill="${colors[i]!}"/><text x="${x + 14}" y="${y}" fill="${COLORS['text']}" font-family="JetBrains Mono, ui-monospace, monospace">${escapeHtml(name)}</text>`
    x += width
    return item
  })
  return { svg: items.join('\n'), bottom: names.length === 0 ? top : y }
}
