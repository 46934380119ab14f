import { ceilingsOfSession } from '../roofline/ceilings'
import { mapResults, wholeSession, type SessionStream, type SessionFile } from '../session/types'
import { ImportSource, type ExportContext, type FileFormat, type FormatInfo, type ImportOutcome } from './file-format'
import { redact, redactStream } from './redact'
import { structureProblem } from './shared/check'
import { jsonSyntaxMessage } from './shared/json'

const modules = import.meta.glob<{ default: FileFormat }>('./*/format.ts', { eager: true })

/** Every format under core/formats: the native one first, then by title. */
export const FORMATS: readonly FileFormat[] = Object.values(modules)
  .map((module) => module.default)
  .sort((a, b) => Number(b.id === 'json') - Number(a.id === 'json') || a.title.localeCompare(b.title, 'en'))

export const formatInfo = (format: FileFormat): FormatInfo => ({
  id: format.id, title: format.title, description: format.description, extension: format.extension, exportable: format.exportSession !== undefined, importable: format.importSession !== undefined, forSharing: format.forSharing === true,
})

/** The extensions of files that may be read, each once. */
export const importExtensions = (): string[] => [...new Set(FORMATS.flatMap((format) => (format.importSession ? [format.extension] : [])))]

/** The format of this id that can be written. Throws when there is none, with the choices. */
export function exportFormat(formatId: string): FileFormat & Required<Pick<FileFormat, 'exportSession'>> {
  for (const format of FORMATS) if (format.id === formatId && format.exportSession) return { ...format, exportSession: format.exportSession }
  const writable = FORMATS.filter((f) => f.exportSession).map((f) => f.id)
  throw new Error(`cannot export as "${formatId}"; expected one of ${writable.join(', ')}`)
}

/** Loads what writing this format needs; to be awaited before a session is written. Throws when there is no such format, with the choices. */
export const prepareExport = async (formatId: string): Promise<void> => exportFormat(formatId).prepareExport?.()

/** A session as the text of a file, in parts to be written one after the other. Throws when there is no such format or it cannot be written, with the choices. */
export function exportParts(formatId: string, file: SessionFile, context: ExportContext = { ceilings: [] }): Iterable<string> {
  // Ceilings of another machine's devices say nothing of these results, whatever their ids.
  const shown = redact(file, ceilingsOfSession(file.environment, context.ceilings), context.leaveOut ?? new Set(), context.hints)
  const written = exportFormat(formatId).exportSession(shown.file, { ...context, ceilings: shown.ceilings })
  // A string would be taken apart letter by letter.
  return typeof written === 'string' ? [written] : written
}

/** The same as one text. */
export const exportSession = (formatId: string, file: SessionFile, context?: ExportContext): string => [...exportParts(formatId, file, context)].join('')

/** Share of an export at which a session is read that its format needs whole; the rest is writing. */
const LOADED = 0.4

/**
 * The same of a session that memory need not hold. Formats with `exportStream` go through it result by result; the
 * others get it whole. `onProgress` is told the share that is done, from 0 to 1, at each result.
 */
export function* exportStream(formatId: string, session: SessionStream, context: ExportContext, onProgress: (share: number) => void = () => undefined): Generator<string, void> {
  const { exportStream: stream } = exportFormat(formatId)
  const { leaveOut = new Set(), hints } = context
  const readings = stream ? stream.readings + (leaveOut.size > 0 ? 1 : 0) : 1
  const count = Math.max(1, session.results.length)
  let read = 0
  const results = mapResults(session.results, (result) => {
    onProgress(((stream ? 1 : LOADED) * ++read) / (count * readings))
    return result
  })
  if (!stream) {
    let written = 0
    for (const part of exportParts(formatId, wholeSession({ ...session, results }), context)) {
      yield part
      onProgress(LOADED + (1 - LOADED) * Math.min(1, ++written / count))
    }
    return
  }
  const shown = redactStream({ ...session, results }, ceilingsOfSession(session.environment, context.ceilings), leaveOut, hints)
  yield* stream.parts(shown.session, { ...context, ceilings: shown.ceilings })
}


/** Reads a file in whichever format it is. The message of a refusal starts with the file's name. Never throws. */
export function importSession(fileName: string, text: string, now?: string): ImportOutcome {
  const refuse = (message: string): ImportOutcome => ({ ok: false, message: `${fileName}: ${message}` })
  if (text.length > MAX_BYTES) return refuse(`larger than ${MAX_BYTES / 2 ** 20} Mi characters, the most that is read`)
  const oversized = sizeProblem(text)
  if (oversized !== undefined) return refuse(oversized)
  const source = new ImportSource(fileName, text, now)
  const known = `expected one of: ${FORMATS.flatMap((format) => (format.importSession ? [format.title] : [])).join(', ')}`
  if (source.text.trim() === '') return refuse(`the file is empty; ${known}`)
  const unsafe = structureProblem(source.looseJson())
  if (unsafe !== undefined) return refuse(unsafe)
  for (const format of FORMATS) {
    const outcome = format.importSession?.(source)
    if (outcome?.ok) return outcome.warnings ? { ...outcome, warnings: outcome.warnings.map((warning) => `${fileName}: ${warning}`) } : outcome
    if (outcome) return refuse(outcome.message)
  }
  // What starts as JSON and is not tells where it broke; what is JSON belongs to somebody else.
  const broken = /^\s*[[{]/.test(source.text) && source.looseJson() === undefined
  return refuse(broken ? jsonSyntaxMessage(source.text) : `not a format that can be read; ${known}`)
}

/**
 * What one file may hold, so that reading it takes less than 500 MB of memory whatever is in it (test/bench/attack-files
 * measures that): 64 MiB, some 50,000 results.
 */
export const MAX_BYTES = 2 ** 26
/** Values: numbers, texts, members, cells. */
const MAX_VALUES = 3_500_000
/** Objects, lists and lines: each takes far more memory than text. A session has a dozen for each of its results, files of other tools have one or two. */
const MAX_GROUPS = { session: 1_400_000, other: 200_000 }
/** Members of one object. */
const MAX_MEMBERS = 20_000

const [QUOTE, ESCAPE, COMMA, COLON, LINE, TAB, SEMICOLON, OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [...'"\\,:\n\t;[]{}'].map((character) => character.charCodeAt(0))

/** Where in a text a session says that it is one. */
const HEAD = 4096

/** What a text has too much of to be parsed, in words; undefined where it is within the limits. Counts only: the text may be anything. */
function sizeProblem(text: string): string | undefined {
  const maxGroups = text.slice(0, HEAD).includes('"schemaVersion"') ? MAX_GROUPS.session : MAX_GROUPS.other
  const isJson = /^\s*[[{]/.test(text)
  const members: number[] = []
  let [values, groups, depth] = [0, 0, 0]
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE && isJson) {
      for (at++; at < text.length && text.charCodeAt(at) !== QUOTE; at++) if (text.charCodeAt(at) === ESCAPE) at++
    } else if (code === COMMA || code === SEMICOLON || code === TAB) values++
    else if (code === LINE) groups += isJson ? 0 : 1
    else if (isJson && (code === OPEN_LIST || code === OPEN_OBJECT)) {
      groups++
      depth++
      members[depth] = 0
    } else if (isJson && (code === CLOSE_LIST || code === CLOSE_OBJECT)) depth = Math.max(0, depth - 1)
    else if (isJson && code === COLON && (members[depth] = (members[depth] ?? 0) + 1) > MAX_MEMBERS) return `an object with more than ${MAX_MEMBERS.toLocaleString('en-US')} members, the most that is read`
    if (values > MAX_VALUES) return `more than ${MAX_VALUES.toLocaleString('en-US')} values, the most that is read`
    if (groups > maxGroups) return `more than ${maxGroups.toLocaleString('en-US')} ${isJson ? 'objects and lists' : 'lines'}, the most that is read`
  }
  return undefined
}
