import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync } from 'node:fs'
import { OWNER_ONLY } from '../../write-file'
import type { Database } from '../database/database'

const pragma = (db: Database, name: string) => Number(Object.values(db.connection.prepare(`pragma ${name}`).get() ?? {})[0] ?? 0)

/** How far a piece of maintenance is. */
export interface Progress {
  /** What is being done, in words. */
  step: string
  /** From 0 to 1; absent where nobody can tell. */
  share?: number
  /** A file that grows to so many bytes meanwhile: who watches from outside can tell the share by it. */
  growing?: { file: string; bytes: number }
}
export type OnProgress = (progress: Progress) => void

/**
 * A consistent copy of the whole database, as it is now, while others go on writing; compact, and on the disk when this
 * returns. It appears under its name only once it is complete. Throws what SQLite or the system say.
 */
export function copyDatabase(db: Database, target: string, step: string, onProgress: OnProgress = () => undefined): void {
  const part = `${target}.${process.pid}.part`
  rmSync(part, { force: true })
  onProgress({ step, growing: { file: part, bytes: pragma(db, 'page_count') * pragma(db, 'page_size') } })
  try {
    // SQLite takes an empty file as it is, and would make one that everyone may read.
    closeSync(openSync(part, 'wx', OWNER_ONLY))
    db.connection.prepare('vacuum into ?').run(part)
    const file = openSync(part, 'r+')
    try {
      fsyncSync(file)
    } finally {
      closeSync(file)
    }
    renameSync(part, target)
  } catch (error) {
    for (const left of [part, `${part}-journal`]) if (existsSync(left)) rmSync(left, { force: true })
    throw error
  }
}
