import { existsSync, realpathSync, rmSync, statSync, constants, copyFileSync, linkSync, renameSync } from 'node:fs'
import { basename } from 'node:path'
import type { HistoryFile } from '@core/ipc'
import { Database } from '../database/database'
import { correctSchema, isHistory, migrate, MIGRATIONS, schemaOf } from '../database/migrate'
import { nameBeside } from '../database/open'
import { openReadOnly, openSqlite } from '../database/sqlite'
import { copyDatabase, type OnProgress } from './copy'

/** A backup or restore that was refused or failed, in words for the user. Nothing was changed. */
export class MaintenanceError extends Error {
  override name = 'MaintenanceError'
}

const reasonOf = (error: unknown) => (error instanceof Error ? error.message : String(error))
const isSame = (a: string, b: string) => existsSync(a) && existsSync(b) && realpathSync(a) === realpathSync(b)

function open(file: string, readOnly: boolean): Database {
  const connection = readOnly ? openReadOnly(file) : openSqlite(file)
  try {
    connection.exec('pragma busy_timeout = 10000')
    return new Database(connection)
  } catch (error) {
    connection.close()
    throw error
  }
}

/** What is in a history; throws when a page of it cannot be read. */
function contentsOf(file: string, name: string): HistoryFile {
  const db = open(file, true)
  try {
    const first = (sql: string) => Object.values(db.connection.prepare(sql).get() ?? {})[0]
    const answer = first('pragma quick_check(1)')
    if (answer !== 'ok') throw new Error(String(answer))
    return { name, sessions: Number(first('select count(*) from sessions where deleted_at is null')), results: Number(first('select count(*) from results')), bytes: statSync(file).size }
  } finally {
    db.close()
  }
}

/** Writes a copy of the history to `target` while it is in use, and reads it again to be sure. Throws MaintenanceError. */
export function backUp(file: string, target: string, onProgress: OnProgress = () => undefined): HistoryFile {
  const name = basename(target)
  if (isSame(file, target)) throw new MaintenanceError(`${name} is the history itself; choose another name for the backup.`)
  try {
    const db = open(file, true)
    try {
      copyDatabase(db, target, 'Copying', onProgress)
    } finally {
      db.close()
    }
    onProgress({ step: 'Reading the copy again' })
    return contentsOf(target, name)
  } catch (error) {
    throw new MaintenanceError(`The backup ${name} could not be written (${reasonOf(error)}). The history is as it was.`, { cause: error })
  }
}

/** A backup that is ready to take the place of the history. */
export interface Prepared {
  /** A file beside the history. */
  file: string
  contents: HistoryFile
  /** Schema of the backup, where it is older than today's and was brought up to date. */
  upgradedFrom?: number
}

/**
 * Copies a backup beside the history, reads it through and brings it to today's schema; the backup itself and the
 * history are only read. Throws MaintenanceError: no history, damaged, of a newer version, no room.
 */
export function prepareRestore(backup: string, file: string, onProgress: OnProgress = () => undefined): Prepared {
  const name = basename(backup)
  const refuse = (why: string, cause?: unknown): never => {
    throw new MaintenanceError(`${name} ${why} Nothing was changed.`, { cause })
  }
  if (!existsSync(backup)) refuse('is not there.')
  if (isSame(backup, file)) refuse('is the history in use; choose a backup.')
  const target = `${file}.restoring`
  try {
    const source = open(backup, true)
    let schema: number
    try {
      if (!isHistory(source)) refuse('is not a history of Opscope.')
      schema = schemaOf(source)
      if (schema > MIGRATIONS.length) refuse(`was written by a newer version of Opscope (schema ${schema}; this version reads up to ${MIGRATIONS.length}).`)
      copyDatabase(source, target, 'Copying', onProgress)
    } finally {
      source.close()
    }
    onProgress({ step: 'Reading the copy' })
    const copy = open(target, false)
    try {
      if (copy.connection.prepare('pragma foreign_key_check').all().length > 0) refuse('has results whose session is gone.')
      correctSchema(copy)
      migrate(copy)
    } finally {
      copy.close()
    }
    return { file: target, contents: contentsOf(target, name), ...(schema < MIGRATIONS.length ? { upgradedFrom: schema } : {}) }
  } catch (error) {
    rmSync(target, { force: true })
    if (error instanceof MaintenanceError) throw error
    return refuse(`cannot be restored: it is no SQLite file, is damaged, or could not be copied (${reasonOf(error)}).`, error)
  }
}

/**
 * Puts `prepared` in the place of the closed database `file`, which stays beside it under a new name; returns that
 * name. There is no moment without a history: the present one gets its second name first. Throws MaintenanceError,
 * nothing changed, when another process has the history open.
 */
export function swapIn(file: string, prepared: string): string {
  // The last connection to close takes the log away.
  if (existsSync(`${file}-wal`)) throw new MaintenanceError('Another Opscope, a window or a command, has the history open. Close it and try again. Nothing was changed.')
  const kept = nameBeside(file, 'before-restore')
  try {
    linkSync(file, kept)
  } catch {
    // File systems without links.
    copyFileSync(file, kept, constants.COPYFILE_EXCL)
  }
  renameSync(prepared, file)
  return kept
}
