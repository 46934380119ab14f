import type { SessionStream } from '../../session/types'
import { upgradeSessionFile, type RawSessionFile } from '../../session/upgrade'
import type { FileFormat, ImportOutcome, ImportSource } from '../file-format'
import { checkedHead, checkedResults, finishImport } from '../shared/check'
import { writeJson } from '../shared/json'

/** One line each for session and environment and one per result, so that files can be compared and searched line by line. */
function* exportJson(stream: SessionStream): Generator<string, void> {
  const { schemaVersion, session, environment } = checkedHead(stream)
  yield `{\n"schemaVersion":${schemaVersion},\n"session":${writeJson(session)},\n"environment":${writeJson(environment)},\n"results":[`
  let before = ''
  for (const result of checkedResults(stream)) {
    yield `${before}\n${writeJson(result)}`
    before = ','
  }
  yield `${before === '' ? '' : '\n'}]\n}\n`
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
const format: FileFormat = { id: 'json', title: 'JSON', description: 'Opscope session with all raw samples; can be imported again', extension: 'json', suffix: 'opscope.json', exportSession: exportJson, exportStream: { readings: 1, parts: exportJson }, importSession: importJson }
export default format
