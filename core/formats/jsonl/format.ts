import type { SessionStream } from '../../session/types'
import { upgradeSessionFile, type RawSessionFile } from '../../session/upgrade'
import { structureProblem, checkedHead, checkedResults, finishImport } from '../shared/check'
import { parseLooseJson, jsonSyntaxProblem, writeJson } from '../shared/json'
import type { ImportSource, FileFormat, ImportOutcome } from '../file-format'

/** The first line has everything but the results, and in their place how many follow; then one result on each line. */
function* exportJsonl(stream: SessionStream): Generator<string, void> {
  yield `${writeJson({ ...checkedHead(stream), results: stream.results.length })}\n`
  for (const result of checkedResults(stream)) yield `${writeJson(result)}\n`
}

const isObject = (value: unknown): value is RawSessionFile => typeof value === 'object' && value !== null && !Array.isArray(value)

/** The head of such a file; undefined when the first line is none. */
function readHead(line: string): RawSessionFile | undefined {
  if (!line.includes('"schemaVersion"')) return undefined
  const head = parseLooseJson(line)
  return isObject(head) && Object.hasOwn(head, 'schemaVersion') && typeof head['results'] === 'number' ? head : undefined
}

function importJsonl({ text }: ImportSource): ImportOutcome | null {
  if (!text.startsWith('{')) return null
  const end = text.indexOf('\n')
  const head = readHead(end < 0 ? text : text.slice(0, end))
  if (!head) return null
  const refuse = (line: number, message: string): ImportOutcome => ({ ok: false, message: `line ${line}: ${message}` })
  const unsafe = structureProblem(head)
  if (unsafe !== undefined) return refuse(1, unsafe)
  const results: unknown[] = []
  let line = 1
  for (let from = end < 0 ? text.length : end + 1; from < text.length; ) {
    line++
    const next = text.indexOf('\n', from)
    const content = text.slice(from, next < 0 ? text.length : next)
    from = next < 0 ? text.length : next + 1
    if (content.trim() === '') continue
    const value = parseLooseJson(content)
    if (value === undefined) return refuse(line, jsonSyntaxProblem(content))
    const problem = structureProblem(value)
    if (problem !== undefined) return refuse(line, problem)
    results.push(value)
  }
  if (results.length !== head['results']) return refuse(line, `expected ${String(head['results'])} results as the first line says, received ${results.length}`)
  const upgraded = upgradeSessionFile({ ...head, results })
  return upgraded.ok ? finishImport(upgraded.file) : upgraded
}

/** The native format for tools that read line by line. A file that was cut off is noticed by the count in its first line. */
const format: FileFormat = { id: 'jsonl', title: 'JSON Lines', description: 'Opscope session with one result per line, to search and to read piece by piece', extension: 'jsonl', suffix: 'opscope.jsonl', exportSession: exportJsonl, exportStream: { readings: 1, parts: exportJsonl }, importSession: importJsonl }
export default format
