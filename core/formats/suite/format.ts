import type { SessionFile } from '../../session/types'
import { suiteDocument } from '../../suites/report/document'
import type { SuitePart } from '../../suites/report'
import { escapeMarkdown as text, tableMarkdown } from '../markdown/format'
import type { ExportContext, FileFormat } from '../file-format'

function partMarkdown({ title, text: lead, table }: SuitePart): string {
  const whole = table && { heads: table.heads, rows: table.rows.map((row) => row.map((cell) => ({ text: cell.note === undefined ? cell.text : `${cell.text}, ${cell.note}` }))) }
  return [`## ${text(title)}`, lead === undefined ? '' : text(lead), whole ? tableMarkdown(whole) : ''].filter((piece) => piece !== '').join('\n\n')
}

function exportSuite(file: SessionFile, { ceilings }: ExportContext): string {
  const { suite, own, machine, parts } = suiteDocument(file, ceilings)
  return `${[
    `# ${text(suite.title)}`,
    text(own ? suite.about : `"${file.session.name}" was not measured as a suite (opscope run --suite); its results are judged by the rules of ${suite.title}.`),
    text(`${machine}. ${file.session.createdAt}.`),
    ...parts.map(partMarkdown),
  ].join('\n\n')}\n`
}

/** The tables and verdicts of a suite (core/suites), to read or to paste. */
const format: FileFormat = { id: 'suite', title: 'Suite report', description: 'Tables and verdicts of the suite that the session is of, as Markdown', extension: 'md', suffix: 'suite.md', forSharing: true, exportSession: exportSuite }
export default format
