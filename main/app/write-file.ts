import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from 'node:fs'
import { randomUUID } from 'node:crypto'

/**
 * Writes a whole file or nothing: into a new file beside it, flushed, then renamed over it.
 * @param parts written one after another, so that a large file need not be one string
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
    throw error
  }
}

function writeAll(file: number, data: Uint8Array): void {
  for (let written = 0; written < data.length; ) written += writeSync(file, data, written)
}
