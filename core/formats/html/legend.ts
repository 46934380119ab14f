import { seriesColor, type Theme } from '../../backends'
import { markPath, SYMBOLS, type Look, type MarkSymbol } from '../../analysis/looks'
import { escapeHtml } from './page'

/** CSS variables --s0, --s1, ... with the colour of each backend and implementation in both themes. */
export function seriesStyle(keys: readonly string[]): string {
  const rules = (theme: Theme, scope: string) => `${scope}{${keys.map((key, i) => `--s${i}:${seriesColor(key, theme)}`).join(';')}}`
  return `${rules('light', ':root')}@media screen{${rules('dark', ':root[data-theme=dark]')}}@media screen and (prefers-color-scheme:dark){${rules('dark', ':root:not([data-theme=light])')}}`
}

/** One entry of a legend with its sample of the line or dot. */
export const legendItem = (line: number, color: number, sample: string, label: string): string => `<li style="--c:var(--s${color})" data-line="${line}">${sample}${escapeHtml(label)}</li>`
/** The mark of a legend entry of a dot plot. */
export const dotSymbol = (line: number): MarkSymbol => SYMBOLS[line % SYMBOLS.length]!
export const dotSample = (line: number): string => `<svg viewBox="0 0 10 10" class="dot" aria-hidden="true"><path d="${markPath(dotSymbol(line))}"/></svg>`
export const lineSample = ({ symbol, dash }: Look): string =>
  `<svg viewBox="0 0 28 8" aria-hidden="true"><polyline points="0,4 28,4"${dash === 'solid' ? '' : ` stroke-dasharray="${dash.join(' ')}"`}/><path d="${markPath(symbol)}" transform="translate(10 0) scale(.8)"/></svg>`
