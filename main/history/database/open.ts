import { chmodSync, closeSync, existsSync, openSync, renameSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { makeFolder } from '../../paths'
import { OWNER_ONLY } from '../../write-file'
import { Database } from './database'
import { copyDatabase } from '../maintenance/copy'
import { correctSchema, isHistory, isOurs, migrate, MIGRATIONS, schemaOf } from './migrate'
import { AccessError, explain, openReadOnly, saysRefused, openSqlite, saysDamaged } from './sqlite'

/** Files up to this size are checked at every start; larger ones when they were not closed properly (their log is still there). */
const ALWAYS_CHECK_BYTES = 32 * 1024 * 1024
/** How long a write waits for another process that writes. */
export const BUSY_MS = 10_000

class Damaged extends Error {}

/**
 * Opens the database at `file` at the newest schema, creating it when missing. One that is damaged or not ours is moved
 * to a new name beside it, an empty one takes its place, and `notice` says so. Of one with an older schema a copy is
 * kept beside it first. One that cannot be written (no access, no space) is opened for reading, and `notice` says why.
 * Other errors (newer schema) are thrown, the file untouched.
 */
export function openDatabase(file: string): { db: Database; notice?: string } {
  try {
    makeFolder(dirname(file))
    return { db: open(file) }
  } catch (error) {
    if (saysRefused(error instanceof AccessError ? error.cause : error)) return openToRead(file, error)
    if (!(error instanceof Damaged) && !saysDamaged(error)) throw error
    const kept = moveAside(file)
    const reason = error instanceof Error ? error.message : String(error)
    return { db: open(file), notice: `The history could not be read (${reason}). It was kept as ${kept}, and a new one was started.` }
  }
}

function openToRead(file: string, error: unknown): { db: Database; notice: string } {
  const why = explain(file, error instanceof AccessError ? error.cause : error)
  const cannot = (what: string) => new AccessError(`The history ${file} ${what}${why}`, { cause: error })
  if (!existsSync(file)) throw cannot('cannot be made')
  const notice = `The history ${file} can be read but not written${why}`
  let db: Database
  try {
    db = new Database(openReadOnly(file), file, notice)
  } catch (again) {
    throw saysRefused(again) ? cannot('cannot be opened') : again
  }
  const schema = schemaOf(db)
  if (isHistory(db) && schema === MIGRATIONS.length) return { db, notice }
  db.close()
  throw cannot(schema > MIGRATIONS.length ? 'was written by a newer version of Opscope, and it cannot be written' : 'was written by an earlier version and must be brought up to date before it is read')
}

function open(file: string): Database {
  const check = needsCheck(file)
  keepToOwner(file)
  const connection = openSqlite(file)
  try {
    connection.exec(`pragma busy_timeout = ${BUSY_MS}`)
    const db = new Database(connection, file)
    if (!isOurs(db)) throw new Damaged('it is the database of another program')
    if (check) quickCheck(db)
    connection.exec('pragma journal_mode = wal')
    connection.exec('pragma synchronous = full')
    connection.exec('pragma foreign_keys = on')
    correctSchema(db)
    keepBeforeUpgrade(db, file)
    migrate(db)
    return db
  } catch (error) {
    connection.close()
    throw error
  }
}

/** Makes the file for its owner alone, and takes from others what an earlier version let them read. SQLite gives its log the same mode. */
function keepToOwner(file: string): void {
  if (!existsSync(file)) closeSync(openSync(file, 'a', OWNER_ONLY))
  for (const path of ['', '-wal', '-shm'].map((suffix) => file + suffix)) {
    if (!existsSync(path) || (statSync(path).mode & 0o077) === 0) continue
    try {
      chmodSync(path, OWNER_ONLY)
    } catch {
      // A file of another account, shared on purpose.
    }
  }
}

function needsCheck(file: string): boolean {
  if (!existsSync(file)) return false
  return statSync(file).size <= ALWAYS_CHECK_BYTES || (existsSync(`${file}-wal`) && statSync(`${file}-wal`).size > 0)
}

function quickCheck(db: Database): void {
  const answer = Object.values(db.connection.prepare('pragma quick_check(1)').get() ?? {})[0]
  if (answer !== 'ok') throw new Damaged(String(answer))
}

/** Renames the database and its log to a name that is not taken, and returns the new name. */
function moveAside(file: string): string {
  const kept = nameBeside(file, 'damaged')
  renameSync(file, kept)
  for (const suffix of ['-wal', '-shm']) if (existsSync(file + suffix)) renameSync(file + suffix, kept + suffix)
  return kept
}

/** Before the schema of a file with sessions in it changes, a copy of it as it is stays beside it. Throws when there is no room for one. */
function keepBeforeUpgrade(db: Database, file: string): void {
  const schema = schemaOf(db)
  if (schema === 0 || schema >= MIGRATIONS.length) return
  const kept = nameBeside(file, `schema-${schema}`)
  try {
    copyDatabase(db, kept, 'Keeping a copy')
  } catch (error) {
    if (saysDamaged(error) || saysRefused(error)) throw error
    throw new Error(`The history was written by an earlier version and could not be copied before it is brought up to date; it was left as it is (${error instanceof Error ? error.message : String(error)}).`, { cause: error })
  }
}

/** A name beside `file` that is not taken and tells what it is and when it was made: `history.db.damaged-20260301-101500`. */
export function nameBeside(file: string, what: string, now = new Date()): string {
  const stamp = now.toISOString().slice(0, 19).replace(/[-:]/g, '').replace('T', '-')
  const name = `${file}.${what}-${stamp}`
  for (let i = 1; ; i++) {
    const free = i === 1 ? name : `${name}-${i}`
    if (!existsSync(free)) return free
  }
}
