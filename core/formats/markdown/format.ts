import { ruleTitle, type Finding } from '../../analysis/advice'
import { TWO_INTERVALS } from '../../analysis/case-runs'
import type { SessionFile } from '../../session/types'
import { formatRatio, formatTime } from '../../units'
import { reportOf } from '../shared/report/model'
import type { ExportContext, FileFormat } from '../types'
import { escapeMarkdown as text } from './escape'
import { tableMarkdown } from './table'

const WORDS: Readonly<Record<Finding['severity'], string>> = { problem: '❌ Problem', warning: '⚠️ Warning', info: 'ℹ️ Note' }

function findingMarkdown({ rule, severity, sentence, evidence, gain }: Finding): string {
  const facts = evidence.map(({ name, value }) => `${name}: ${value}`).join('; ')
  const saving = gain ? `; could save ${formatTime(gain.savedNs)} over one call of each (${formatRatio(gain.factor)}: ${gain.how})` : ''
  return `- **${WORDS[severity]}: ${text(ruleTitle(rule))}.** ${text(sentence)} <sub>${text(facts + saving)}</sub>`
}

/** Long tables fold away in a pull request. */
const folded = (summary: string, content: string) => `<details>\n<summary>${summary}</summary>\n\n${content}\n\n</details>`

function exportMarkdown(file: SessionFile, context: ExportContext): string {
  const report = reportOf(file, context)
  const parts = [
    `# ${text(report.title)}`,
    text(report.summary),
    text(report.machine),
    report.tags.length ? `Tags: ${report.tags.map(text).join(', ')}` : '',
    report.notes.trim() === '' ? '' : report.notes.split(/\r?\n/).map((line) => `> ${text(line)}`.trimEnd()).join('\n'),
    '## Findings',
    report.findings.length ? report.findings.map(findingMarkdown).join('\n') : 'Nothing stands out.',
    '## Results',
    report.results.rows.length ? tableMarkdown(report.results) : 'There are no results.',
    ...(report.runs.rows.length ? ['## Over runs', TWO_INTERVALS, tableMarkdown(report.runs)] : []),
    ...(report.ceilings.rows.length ? ['## Ceilings', tableMarkdown(report.ceilings)] : []),
    '## Environment',
    report.warnings.map((warning) => `- ⚠️ ${text(warning)}`).join('\n'),
    folded('Everything recorded of the machine', report.environment.map(({ title, facts }) => `**${text(title)}**\n\n${tableMarkdown({ heads: [{ title: 'fact' }, { title: 'value' }], rows: facts.map(([name, value]) => [{ text: name }, { text: value || '–' }]) })}`).join('\n\n')),
  ]
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`
}

/** A report to paste into a pull request or an issue. */
const format: FileFormat = { id: 'markdown', title: 'Markdown', description: 'Report with tables and findings, to paste into a pull request', extension: 'md', forSharing: true, exportSession: exportMarkdown }
export default format
