import { seriesColor, type Theme } from '../../backends'
import { escapeHtml } from './page'

/** CSS variables --s0, --s1, ... with the colour of each backend and implementation in both themes. */
export function seriesStyle(keys: readonly string[]): string {
  const rules = (theme: Theme, scope: string) => `${scope}{${keys.map((key, i) => `--s${i}:${seriesColor(key, theme)}`).join(';')}}`
  return `${rules('light', ':root')}@media screen{${rules('dark', ':root[data-theme=dark]')}}@media screen and (prefers-color-scheme:dark){${rules('dark', ':root:not([data-theme=light])')}}`
}

/** One entry of a legend with its sample of the line or dot. */
export const legendItem = (line: number, color: number, sample: string, label: string): string => `<li style="--c:var(--s${color})" data-line="${line}">${sample}${escapeHtml(label)}</li>`
export const DOT_SAMPLE = '<svg viewBox="0 0 8 8" class="dot" aria-hidden="true"><circle cx="4" cy="4" r="4"/></svg>'
