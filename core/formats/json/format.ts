import { sessionFileSchema, type SessionFile } from '../../session/types'
import { upgradeSessionFile, type RawSessionFile } from '../../session/upgrade'
import type { FileFormat, ImportOutcome } from '../types'
import { consistencyProblem, describeIssues, structureProblem } from './check'
import { findSyntaxProblem } from './syntax'

/** Shortest decimal text that reads back to the same bits; JSON.stringify alone drops the sign of -0. */
const number = (value: number) => (Object.is(value, -0) ? '-0' : JSON.stringify(value))

/** JSON on one line. Maps of parameters and variants are sorted, so that equal sessions give equal text. */
function write(value: unknown, sorted = false): string {
  if (typeof value === 'number') return number(value)
  if (Array.isArray(value)) {
    // Samples are nearly all of a file; the engine writes them an order of magnitude faster.
    if (value.every((item) => typeof item === 'number' && (item !== 0 || !Object.is(item, -0)))) return JSON.stringify(value)
    return `[${value.map((item) => write(item)).join(',')}]`
  }
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).filter(([, item]) => item !== undefined)
    if (sorted) entries.sort(([a], [b]) => (a < b ? -1 : 1))
    return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${write(item, key === 'params' || key === 'variants' || key === 'kernels')}`).join(',')}}`
  }
  return JSON.stringify(value)
}

/** One line each for session and environment and one per result, so that files can be compared and searched line by line. */
function exportJson(file: SessionFile): string {
  const parsed = sessionFileSchema.safeParse(file)
  if (!parsed.success) throw new Error(`the session cannot be exported: ${describeIssues(parsed.error.issues, file)}`)
  const { schemaVersion, session, environment, results } = parsed.data
  const lines = results.map((result) => write(result)).join(',\n')
  return `{\n"schemaVersion":${schemaVersion},\n"session":${write(session)},\n"environment":${write(environment)},\n"results":[${lines ? `\n${lines}\n` : ''}]\n}\n`
}

/** Line and column, both from 1, of a position in a text. */
function lineAndColumn(text: string, position: number): string {
  const before = text.slice(0, position)
  const line = before.split('\n').length
  return `line ${line}, column ${position - before.lastIndexOf('\n')}`
}

function syntaxMessage(text: string): string {
  const problem = findSyntaxProblem(text)
  if (!problem) return 'the file: expected JSON'
  const { position, expected } = problem
  const found = position < text.length ? JSON.stringify(text.slice(position, position + 12)) : 'the end of the file'
  return `${lineAndColumn(text, position)}: expected ${expected}, received ${found}`
}

/** Only a JSON object with a schemaVersion and a session is ours; anything else is left to other formats. */
function importJson(text: string): ImportOutcome | null {
  if (!/^\s*\{/.test(text)) return null
  let raw: unknown
  try {
    raw = JSON.parse(text)
  } catch {
    return /"schemaVersion"/.test(text.slice(0, 4096)) ? { ok: false, message: syntaxMessage(text) } : null
  }
  if (typeof raw !== 'object' || raw === null || !Object.hasOwn(raw, 'schemaVersion')) return null
  const unsafe = structureProblem(raw)
  if (unsafe !== undefined) return { ok: false, message: unsafe }
  const upgraded = upgradeSessionFile(raw as RawSessionFile)
  if (!upgraded.ok) return upgraded
  const parsed = sessionFileSchema.safeParse(upgraded.file)
  if (!parsed.success) return { ok: false, message: describeIssues(parsed.error.issues, upgraded.file) }
  const inconsistent = consistencyProblem(parsed.data)
  return inconsistent === undefined ? { ok: true, file: parsed.data } : { ok: false, message: inconsistent }
}

/** The native format: a session with everything that was measured. Import of an export gives the identical session. */
const format: FileFormat = { id: 'json', title: 'Opscope session', extension: 'json', exportSession: exportJson, importSession: importJson }
export default format
