import type { FactGroup } from '../../session/environment-facts'
import type { ReportTable } from '../shared/report/table'
import { escapeHtml } from './escape'

/** A table that the report's script can sort and filter; what numeric cells are sorted by stands in data-v. */
export function tableHtml(label: string, { heads, rows }: ReportTable): string {
  const classOf = (i: number, tone?: string) => [heads[i]!.numeric ? 'n' : heads[i]!.mono ? 'id' : heads[i]!.wide ? 'wide' : '', tone ?? ''].filter(Boolean).join(' ')
  const attribute = (name: string) => (name ? ` class="${name}"` : '')
  const head = heads.map(({ title }, i) => `<th scope="col"${attribute(heads[i]!.numeric ? 'n' : '')}>${escapeHtml(title)}</th>`).join('')
  const body = rows.map((row) => `<tr>${row.map(({ text, value, tone }, i) => `<td${attribute(classOf(i, tone))}${value === undefined ? '' : ` data-v="${value}"`}>${escapeHtml(text)}</td>`).join('')}</tr>`)
  return `<div class="scroll"><table class="data" aria-label="${escapeHtml(label)}"><thead><tr>${head}</tr></thead><tbody>${body.join('\n')}</tbody></table></div>`
}

/** Facts in groups, each a name and a value. */
export const factsHtml = (groups: readonly FactGroup[]): string =>
  groups
    .map(({ title, facts }) => `<h3>${escapeHtml(title)}</h3><div class="scroll"><table class="facts">${facts.map(([name, value]) => `<tr><th scope="row">${escapeHtml(name)}</th><td class="wide">${escapeHtml(value)}</td></tr>`).join('')}</table></div>`)
    .join('\n')

export const listHtml = (items: readonly string[]): string => (items.length ? `<ul>${items.map((text) => `<li>${escapeHtml(text)}</li>`).join('')}</ul>` : '')
