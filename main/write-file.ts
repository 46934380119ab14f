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

function reasonOf(error: unknown): string {
  const { code, message } = error as { code?: unknown; message?: unknown }
  return (typeof code === 'string' ? REASONS[code] : undefined) ?? (typeof message === 'string' ? message : String(error))
}

/**
 * Writes all of `parts`, or nothing: into a new file beside it, flushed, then renamed over it.
 * Parts are written one after another, so that a large file need not be one string. Throws naming `path` and the reason.
 */
export function writeFileAtomic(path: string, parts: Iterable<string | Uint8Array>): void {
  const temporary = `${path}.${randomUUID()}.part`
  try {
    const file = openSync(temporary, 'wx', 0o644)
    try {
      for (const part of parts) writeAll(file, typeof part === 'string' ? Buffer.from(part) : part)
      fsyncSync(file)
    } finally {
      closeSync(file)
    }
    renameSync(temporary, path)
  } catch (error) {
    rmSync(temporary, { force: true })
    throw new Error(`cannot write ${path}: ${reasonOf(error)}`, { cause: error })
  }
}

function writeAll(file: number, data: Uint8Array): void {
  for (let written = 0; written < data.length; ) written += writeSync(file, data, written)
}
