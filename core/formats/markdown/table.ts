import type { ReportTable } from '../shared/report/table'
import { escapeMarkdown } from './escape'

/** A GitHub table, numbers to the right; columns without anything in them are left out. */
export function tableMarkdown({ heads, rows }: ReportTable): string {
  const shown = heads.map((_, i) => i).filter((i) => rows.some((row) => row[i]!.text !== ''))
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  return [
    line(shown.map((i) => escapeMarkdown(heads[i]!.title))),
    line(shown.map((i) => (heads[i]!.numeric ? '---:' : '---'))),
    ...rows.map((row) => line(shown.map((i) => (row[i]!.tone === 'bad' ? `**${escapeMarkdown(row[i]!.text)}**` : escapeMarkdown(row[i]!.text))))),
  ].join('\n')
}
