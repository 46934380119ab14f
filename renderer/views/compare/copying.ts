import { rowsMarkdown, comparisonCsv, comparisonMarkdown, comparisonTsv, type Comparison } from '@core/compare'
import { call } from '../../lib/api'
import { copyText } from '../../lib/clipboard'
import { useNotices } from '../../stores/notices'
import type { CompareRow } from './rows'

/** One way to take a comparison elsewhere. */
export interface Way {
  title: string
  about: string
  go(comparison: Comparison, rows: readonly CompareRow[]): Promise<void>
}

const casesText = (count: number) => `${count.toLocaleString('en-US')} ${count === 1 ? 'case' : 'cases'}`

/** Copying and saving what is compared; says what became of it. */
export function useCopying(): { copy(text: string, cases: number, as: string): Promise<void>; ways: readonly Way[] } {
  const notices = useNotices()
  async function copy(text: string, cases: number, as: string): Promise<void> {
    try {
      await copyText(text)
      notices.show({ level: 'info', message: `Copied ${casesText(cases)} as ${as}.` })
    } catch (error) {
      notices.fail(error, 'copy')
    }
  }
  async function save(comparison: Comparison, kind: 'csv' | 'md' | 'html', text: string): Promise<void> {
    try {
      const name = comparison.sessions.map((session) => session.value ?? session.name).join(' vs ').slice(0, 120)
      const reply = await call('compare:save', { name, kind, text })
      if (reply.done) notices.show({ level: 'info', message: `Saved ${reply.name}.` })
    } catch (error) {
      notices.fail(error, 'save the comparison')
    }
  }
  return {
    copy,
    ways: [
      { title: 'Copy as TSV', about: 'The cases shown, for a spreadsheet', go: (comparison, rows) => copy(comparisonTsv(comparison, rows), rows.length, 'tab-separated text') },
      { title: 'Copy as Markdown', about: 'The cases shown, as a table', go: (comparison, rows) => copy(rowsMarkdown(comparison, rows), rows.length, 'Markdown') },
      { title: 'Save as CSV…', about: 'The cases shown, numbers in full', go: (comparison, rows) => save(comparison, 'csv', comparisonCsv(comparison, rows)) },
      { title: 'Save as Markdown…', about: 'Summary, means, regressions and environments of all cases, ready for a pull request', go: (comparison) => save(comparison, 'md', comparisonMarkdown(comparison)) },
      // The report's writer is only fetched when one is wanted.
      { title: 'Save as HTML report…', about: 'Ratios drawn, means and every verdict of all cases, in one file to send', go: async (comparison) => save(comparison, 'html', (await import('@core/formats/html/comparison')).comparisonHtml(comparison)) },
    ],
  }
}
