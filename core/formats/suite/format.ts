import type { SessionFile } from '../../session/types'
import { findSuite } from '../../suites'
import { suiteReport, type SuitePart } from '../../suites/report'
import { escapeMarkdown as text, tableMarkdown } from '../markdown/format'
import type { ExportContext, FileFormat } from '../file-format'

const partMarkdown = ({ title, text: lead, table }: SuitePart): string => [`## ${text(title)}`, lead === undefined ? '' : text(lead), table ? tableMarkdown(table) : ''].filter((piece) => piece !== '').join('\n\n')

/** What a session is judged as that no suite made. */
const FALLBACK = findSuite('genesis')!

function exportSuite({ session, environment, results }: SessionFile, { ceilings }: ExportContext): string {
  const own = findSuite(session.spec?.suite ?? '')
  const suite = own ?? FALLBACK
  return `${[
    `# ${text(suite.title)}`,
    text(own ? suite.about : `"${session.name}" was not measured as a suite (opscope run --suite); its results are judged by the rules of ${suite.title}.`),
    text(`${environment.cpu}, ${environment.devices.map(({ name }) => name).join(', ')}. ${session.createdAt}.`),
    ...suiteReport(suite, results, ceilings).map(partMarkdown),
  ].join('\n\n')}\n`
}

/** The tables and verdicts of a suite (core/suites), to read or to paste. */
const format: FileFormat = { id: 'suite', title: 'Suite report', description: 'Tables and verdicts of the suite that the session is of, as Markdown', extension: 'md', suffix: 'suite.md', forSharing: true, exportSession: exportSuite }
export default format
