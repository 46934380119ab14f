import { randomUUID } from 'node:crypto'
import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from 'node:fs'

/** What the system's refusals mean, without the name of the temporary file that its own words hold. */
const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'you may not write there',
  EPERM: 'you may not write there',
  EROFS: 'that place can only be read',
  ENOENT: 'there is no such folder',
  ENOTDIR: 'part of that path is not a folder',
  EISDIR: 'that is a folder',
  ENOSPC: 'the disk is full',
  EDQUOT: 'your share of the disk is used up',
  ENAMETOOLONG: 'the name is too long',
}

/** What went wrong with a file, in words without its name where the reason is a known one. */
export function reasonOf(error: unknown): string {
  const { code, message } = error as { code?: unknown; message?: unknown }
  return (typeof code === 'string' ? REASONS[code] : undefined) ?? (typeof message === 'string' ? message : String(error))
}

/** Mode of every file that is written: what was measured, where and by whom is its owner's to pass on. */
export const OWNER_ONLY = 0o600

/** A name of its own for what is not whole yet, beside the file that it becomes. */
export const temporaryFor = (path: string): string => `${path}.${randomUUID()}.part`

/** Parts are gathered up to about this many characters: one write for each of a million lines takes minutes. */
const WRITTEN_AT_ONCE = 2 ** 18

/** Does `work`; when it fails nothing stays of `temporary`, and the error names `path` and the reason. */
function orNothing(path: string, temporary: string, work: () => void): void {
  try {
    work()
  } catch (error) {
    rmSync(temporary, { force: true })
    throw new Error(`cannot write ${path}: ${reasonOf(error)}`, { cause: error })
  }
}

/**
 * Writes all of `parts`, or nothing: into a new file beside it, flushed, then renamed over it.
 * Parts are written one after another, so that a large file need not be one string. Throws naming `path` and the reason.
 */
export function writeFileAtomic(path: string, parts: Iterable<string | Uint8Array>): void {
  const temporary = temporaryFor(path)
  writeBeside(path, parts, temporary)
  putInPlace(path, temporary)
}

/** The first half of writeFileAtomic: all of `parts`, flushed, in the new file `temporary`, or nothing. */
export function writeBeside(path: string, parts: Iterable<string | Uint8Array>, temporary: string): void {
  orNothing(path, temporary, () => {
    const file = openSync(temporary, 'wx', OWNER_ONLY)
    try {
      writeParts(file, parts)
      fsyncSync(file)
    } finally {
      closeSync(file)
    }
  })
}

/** The second half: what writeBeside wrote takes the place of `path`, at once. */
export function putInPlace(path: string, temporary: string): void {
  orNothing(path, temporary, () => renameSync(temporary, path))
}

function writeParts(file: number, parts: Iterable<string | Uint8Array>): void {
  let text = ''
  const flush = () => {
    writeAll(file, Buffer.from(text))
    text = ''
  }
  for (const part of parts) {
    if (typeof part === 'string') text += part
    if (typeof part !== 'string' || text.length >= WRITTEN_AT_ONCE) flush()
    if (typeof part !== 'string') writeAll(file, part)
  }
  flush()
}

function writeAll(file: number, data: Uint8Array): void {
  for (let written = 0; written < data.length; ) written += writeSync(file, data, written)
}
