import { sessionFileSchema, type SessionFile } from '../../session/types'
import { upgradeSessionFile, type RawSessionFile } from '../../session/upgrade'
import type { FileFormat, ImportOutcome } from '../types'
import { describeIssues } from '../shared/check'
import { finishImport } from '../shared/finish'
import { writeJson } from '../shared/write-json'
import type { ImportSource } from '../source'

/** One line each for session and environment and one per result, so that files can be compared and searched line by line. */
function* exportJson(file: SessionFile): Generator<string, void> {
  const parsed = sessionFileSchema.safeParse(file)
  if (!parsed.success) throw new Error(`the session cannot be exported: ${describeIssues(parsed.error.issues, file)}`)
  const { schemaVersion, session, environment, results } = parsed.data
  yield `{\n"schemaVersion":${schemaVersion},\n"session":${writeJson(session)},\n"environment":${writeJson(environment)},\n"results":[`
  for (const [i, result] of results.entries()) yield `${i > 0 ? ',' : ''}\n${writeJson(result)}`
  yield `${results.length > 0 ? '\n' : ''}]\n}\n`
}

/** Only a JSON object with a schemaVersion and a session is ours; anything else is left to other formats. */
function importJson(source: ImportSource): ImportOutcome | null {
  const raw = source.looseJson()
  if (typeof raw !== 'object' || raw === null || !Object.hasOwn(raw, 'schemaVersion')) return null
  // The head of a file with one result per line says how many follow.
  if (typeof (raw as RawSessionFile)['results'] === 'number') return null
  const upgraded = upgradeSessionFile(raw as RawSessionFile)
  return upgraded.ok ? finishImport(upgraded.file) : upgraded
}

/** The native format: a session with everything that was measured. Import of an export gives the identical session. */
const format: FileFormat = { id: 'json', title: 'JSON', description: 'Opscope session: everything, samples too; can be imported again', extension: 'json', suffix: 'opscope.json', exportSession: exportJson, importSession: importJson }
export default format
