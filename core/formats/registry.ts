import { ceilingsOn } from '../roofline/ceilings'
import type { SessionFile } from '../session/types'
import type { ExportContext, FileFormat, ImportOutcome } from './types'

const modules = import.meta.glob<{ default: FileFormat }>('./*/format.ts', { eager: true })

/** Every format under core/formats, by id. */
export const FORMATS: readonly FileFormat[] = Object.values(modules)
  .map((module) => module.default)
  .sort((a, b) => a.id.localeCompare(b.id))

/** A session as the text of a file. Throws when there is no such format or it cannot be written, with the choices. */
export function exportSession(formatId: string, file: SessionFile, context: ExportContext = { ceilings: [] }): string {
  const format = FORMATS.find((f) => f.id === formatId)
  if (!format?.exportSession) {
    const writable = FORMATS.filter((f) => f.exportSession).map((f) => f.id)
    throw new Error(`cannot export as "${formatId}"; expected one of ${writable.join(', ')}`)
  }
  // Ceilings of another machine's devices say nothing of these results, whatever their ids.
  return format.exportSession(file, { ...context, ceilings: ceilingsOn(context.ceilings, file.environment.devices) })
}

/** Longest text that is looked at: 256 Mi characters, some ten million samples. */
export const MAX_CHARACTERS = 2 ** 28

/** Reads a file in whichever format it is. The message of a refusal starts with the file's name. Never throws. */
export function importSession(fileName: string, text: string): ImportOutcome {
  const refuse = (message: string): ImportOutcome => ({ ok: false, message: `${fileName}: ${message}` })
  if (text.length > MAX_CHARACTERS) return refuse(`larger than ${MAX_CHARACTERS / 2 ** 20} Mi characters, the most that is read`)
  const bare = text.startsWith('\ufeff') ? text.slice(1) : text
  if (bare.trim() === '') return refuse('the file is empty; expected a session exported as JSON')
  for (const format of FORMATS) {
    const outcome = format.importSession?.(bare)
    if (outcome) return outcome.ok ? outcome : refuse(outcome.message)
  }
  return refuse('not a format that can be read; expected a session exported as JSON')
}
