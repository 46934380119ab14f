import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from 'node:fs'
import { dirname, basename, join } from 'node:path'

/** Writes all of `chunks`, or nothing: the file appears, or is replaced, only when complete. Throws naming the file. */
export function writeAtomically(path: string, chunks: Iterable<string>): void {
  const partial = join(dirname(path), `.${basename(path)}.${process.pid}.part`)
  try {
    const file = openSync(partial, 'w')
    try {
      for (const chunk of chunks) writeSync(file, chunk)
      fsyncSync(file)
    } finally {
      closeSync(file)
    }
    renameSync(partial, path)
  } catch (error) {
    rmSync(partial, { force: true })
    throw new Error(`cannot write ${path}: ${error instanceof Error ? error.message : String(error)}`, { cause: error })
  }
}
