import { basename } from 'node:path'
import { writeFileAtomic } from '../write-file'
import { RequestError } from './errors'

/** Writes a file the user chose. Throws a RequestError that names it when that fails. */
export function writeChosen(path: string, content: string | Uint8Array): { done: true; name: string } {
  try {
    writeFileAtomic(path, [content])
  } catch (error) {
    throw new RequestError('failed', `${basename(path)} could not be written; nothing was changed.`, error instanceof Error ? error.message : String(error))
  }
  return { done: true, name: basename(path) }
}
