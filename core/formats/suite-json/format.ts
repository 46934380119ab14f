import type { SessionFile } from '../../session/types'
import { suiteDocument } from '../../suites/report/document'
import type { ExportContext, FileFormat } from '../file-format'

/**
 * One object: suite, session, machine, and the parts of the report in order. A table has its column titles, and its rows as
 * lists of cells; a cell has its text, a note such as a rating, and the id of its result.
 */
function exportSuite(file: SessionFile, { ceilings }: ExportContext): string {
  const { suite, own, machine, parts } = suiteDocument(file, ceilings)
  const { id, name, createdAt, state, planned } = file.session
  return `${JSON.stringify(
    { opscopeSuite: 1, suite: { id: suite.id, title: suite.title, about: suite.about }, measuredAsSuite: own, session: { id, name, createdAt, state, planned, results: file.results.length }, machine, parts: parts.map(({ title, text, table }) => ({ title, text, ...(table ? { columns: table.heads.map((head) => head.title), rows: table.rows } : {}) })) },
    undefined, 2,
  )}\n`
}

/** The same report as the suite format, for programs. */
const format: FileFormat = { id: 'suite-json', title: 'Suite report (JSON)', description: 'Tables and verdicts of the suite that the session is of, as JSON', extension: 'json', suffix: 'suite.json', forSharing: true, exportSession: exportSuite }
export default format
