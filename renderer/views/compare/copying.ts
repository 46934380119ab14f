import { rowsMarkdown, comparisonCsv, comparisonMarkdown, comparisonTsv, type Comparison } from '@core/compare'
import { identifyingIn, redactIn, type Redaction } from '@core/formats/redact'
import { formatInteger, withoutLocale } from '@core/units'
import { call } from '../../lib/api'
import { copyText } from '../../lib/clipboard'
import { useExporting } from '../../stores/exporting'
import { useNotices } from '../../stores/notices'
import type { CompareRow } from './table/rows'

/** One way to take a comparison elsewhere. */
export interface Way {
  title: string
  about: string
  go(comparison: Comparison, rows: readonly CompareRow[]): Promise<void>
}

const casesText = (count: number) => `${formatInteger(count)} ${count === 1 ? 'case' : 'cases'}`

const nameOf = ({ sessions }: Comparison) => sessions.map((session) => session.value ?? session.name).join(' vs ').slice(0, 120)

/** Copying and saving what is compared; says what became of it. */
export function useCopying(): { copy(text: string, cases: number, as: string): Promise<void>; saveTable(name: string, csv: string): Promise<void>; ways: readonly Way[] } {
  const notices = useNotices()
  const exporting = useExporting()
  async function copy(text: string, cases: number, as: string): Promise<void> {
    try {
      await copyText(text)
      notices.show({ level: 'info', message: `Copied ${casesText(cases)} as ${as}.` })
    } catch (error) {
      notices.fail(error, 'copy')
    }
  }
  const save = (comparison: Comparison, kind: 'csv' | 'md' | 'html', text: string): Promise<void> => write(nameOf(comparison), kind, text)
  async function write(name: string, kind: 'csv' | 'md' | 'html', text: string): Promise<void> {
    try {
      const reply = await call('compare:save', { name, kind, text })
      if (reply.done) notices.show({ level: 'info', message: `Saved ${reply.name}.` })
    } catch (error) {
      notices.fail(error, 'save the comparison')
    }
  }
  /** A report is looked at before it is written, like that of a session, where it tells of a machine or a person. */
  async function report(comparison: Comparison, kind: 'md' | 'html', title: string, textOf: (comparison: Comparison) => string): Promise<void> {
    try {
      const known = await call('compare:names', { ids: [...new Set(comparison.sessions.map(({ id }) => id))] })
      const found = identifyingIn(comparison, known)
      const go = (leaveOut: readonly Redaction[]) => {
        const shown = redactIn(comparison, new Set(leaveOut), known)
        return save(shown, kind, withoutLocale(() => textOf(shown)))
      }
      if (found.length === 0) await go([])
      else exporting.review = { name: nameOf(comparison), format: { title, forSharing: true }, found, to: 'file', write: go }
    } catch (error) {
      notices.fail(error, 'write the report')
    }
  }
  return {
    copy,
    saveTable: (name, csv) => write(name, 'csv', csv),
    ways: [
      { title: 'Copy as TSV', about: 'The cases shown, for a spreadsheet', go: (comparison, rows) => copy(withoutLocale(() => comparisonTsv(comparison, rows)), rows.length, 'tab-separated text') },
      { title: 'Copy as Markdown', about: 'The cases shown, as a table', go: (comparison, rows) => copy(withoutLocale(() => rowsMarkdown(comparison, rows)), rows.length, 'Markdown') },
      { title: 'Save as CSV…', about: 'The cases shown, numbers in full', go: (comparison, rows) => save(comparison, 'csv', withoutLocale(() => comparisonCsv(comparison, rows))) },
      { title: 'Save as Markdown…', about: 'Summary, means, slower cases and environments of all cases, ready for a pull request', go: (comparison) => report(comparison, 'md', 'Markdown', comparisonMarkdown) },
      // The report's writer is only fetched when one is wanted.
      { title: 'Save as HTML report…', about: 'Ratios drawn, means and every verdict of all cases, in one file to send', go: async (comparison) => report(comparison, 'html', 'HTML', (await import('@core/formats/html/comparison')).comparisonHtml) },
    ],
  }
}
