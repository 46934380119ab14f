import type { SessionAnswer } from '../../analysis/answer/answer'
import { answerSentences, processorTitle } from '../../analysis/answer/words'
import { findingTitle, type Finding } from '../../analysis/advice'
import { TWO_INTERVALS } from '../../analysis/case-runs'
import type { SessionFile } from '../../session/types'
import { formatTime, ratioWords } from '../../units'
import { fastestTable } from '../shared/answer'
import { reportOf, type ReportTable } from '../shared/report'
import type { ExportContext, FileFormat } from '../file-format'
import { speedupPicture } from './speedup-picture'

const WORDS: Readonly<Record<Finding['severity'], string>> = { problem: '❌ Problem', warning: '⚠️ Warning', info: 'ℹ️ Note' }

function findingMarkdown(finding: Finding): string {
  const { severity, sentence, evidence, gain } = finding
  const facts = evidence.map(({ name, value }) => `${name}: ${value}`).join('; ')
  const saving = gain ? `; could save ${formatTime(gain.savedNs)} over one call of each (${ratioWords(gain.factor)}: ${gain.how})` : ''
  return `- **${WORDS[severity]}: ${escapeMarkdown(findingTitle(finding))}.** ${escapeMarkdown(sentence)} <sub>${escapeMarkdown(facts + saving)}</sub>`
}

/** Long tables fold away in a pull request. */
const folded = (summary: string, content: string) => `<details>\n<summary>${summary}</summary>\n\n${content}\n\n</details>`

function exportMarkdown(file: SessionFile, context: ExportContext): string {
  const report = reportOf(file, context)
  const parts = [
    `# ${escapeMarkdown(report.title)}`,
    escapeMarkdown(report.summary),
    escapeMarkdown(report.machine),
    report.tags.length ? `Tags: ${report.tags.map(escapeMarkdown).join(', ')}` : '',
    report.notes.trim() === '' ? '' : report.notes.split(/\r?\n/).map((line) => `> ${escapeMarkdown(line)}`.trimEnd()).join('\n'),
    ...(report.answer.implementations.length || report.answer.machine.warnings.length ? ['## Answer', ...answerParts(report.answer)] : []),
    '## Findings',
    report.findings.length ? report.findings.map(findingMarkdown).join('\n') : 'No findings.',
    '## Results',
    report.results.rows.length ? tableMarkdown(report.results) : 'There are no results.',
    ...(report.runs.rows.length ? ['## Over runs', TWO_INTERVALS, tableMarkdown(report.runs)] : []),
    ...(report.ceilings.rows.length ? ['## Ceilings', tableMarkdown(report.ceilings)] : []),
    '## Environment',
    folded('Everything recorded of the machine', report.environment.map(({ title, facts }) => `**${escapeMarkdown(title)}**\n\n${tableMarkdown({ heads: [{ title: 'fact' }, { title: 'value' }], rows: facts.map(([name, value]) => [{ text: name }, { text: value || '–' }]) })}`).join('\n\n')),
  ]
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`
}

/** The answer in sentences, as bars, by operation, and what is wrong with the machine. */
function answerParts(answer: SessionAnswer): string[] {
  const [first = '', ...others] = answerSentences(answer).map(escapeMarkdown)
  return [
    first && `**${first}**`,
    others.map((text) => `- ${text}`).join('\n'),
    ...answer.processors.flatMap((one) => [...(answer.processors.length > 1 ? [`### ${processorTitle(one)}`] : []), speedupPicture(one), tableMarkdown(fastestTable(one))]),
    answer.machine.warnings.map((warning) => `- ⚠️ ${escapeMarkdown(warning)}`).join('\n'),
  ]
}

/** A report to paste into a pull request or an issue. */
const format: FileFormat = { id: 'markdown', title: 'Markdown', description: 'Report with tables and findings, to paste into a pull request', extension: 'md', forSharing: true, exportSession: exportMarkdown }
export default format

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

/** Control characters and line ends, which would end a table row or a paragraph. */
const BREAKS = /[\p{Cc}\u2028\u2029]+/gu

/**
 * Text that is shown as text wherever it stands in GitHub's dialect: on one line, without markup, links, mentions or HTML.
 * Only what has a meaning there is escaped, so that `layer_norm` stays readable in a diff.
 */
export const escapeMarkdown = (text: string): string =>
  text
    .replace(BREAKS, ' ')
    .replace(/&(?=#?\w+;)/g, '&amp;')
    .replace(/</g, '&lt;')
    .replace(/>/g, '&gt;')
    .replace(/[\\`*[\]|~]/g, '\\$&')
    // An underscore within a word is no emphasis; at its edge it is.
    .replace(/(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, '\\_')
    // Mentions, issue numbers and bare links would notify people or leave the page.
    .replace(/@(?=\w)/g, '@<!-- -->')
    .replace(/#(?=\d)/g, '#<!-- -->')
    .replace(/(https?|ftp|www)(?=:\/\/|\.)/gi, '$1<!-- -->')
    // What would start a heading, a list, a quote, a rule or a table at the start of a line.
    .replace(/^(\s*)([#+=-]|\d+(?=[.)](\s|$)))/, '$1\\$2')
