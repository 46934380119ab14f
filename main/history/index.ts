import { Database } from './database/database'
import { openDatabase, BUSY_MS } from './database/open'
import { purge } from './queries/sessions'
import { saysRefused, openSqlite } from './database/sqlite'
import { SqliteHistory } from './sqlite-history'
import type { History } from './types'

/** How long a deleted session can still be restored at a later start. */
const KEEP_DELETED_MS = 24 * 3600 * 1000

/**
 * Opens the history in this file, creating it when missing. `notice` is for the user: a damaged file was kept aside, or
 * the file can only be read. Throws when it can be neither written nor read, or a newer version wrote it.
 */
export function openHistory(file: string): { history: History; notice?: string } {
  const { db, notice } = openDatabase(file)
  if (db.readOnly === undefined) purge(db, Date.now() - KEEP_DELETED_MS)
  const history = new SqliteHistory(db, file)
  return notice === undefined ? { history } : { history, notice }
}

export { InUseError, NotFoundError, type History, type NewSession } from './types'

/** Opens a history that another process of this app has open, and so has checked and brought up to date; for reading where it cannot be written. Close it after use. */
export function joinHistory(file: string): SqliteHistory {
  try {
    const connection = openSqlite(file)
    connection.exec(`pragma busy_timeout = ${BUSY_MS}`)
    connection.exec('pragma synchronous = full')
    connection.exec('pragma foreign_keys = on')
    connection.prepare('pragma schema_version').get()
    return new SqliteHistory(new Database(connection, file), file)
  } catch (error) {
    if (!saysRefused(error)) throw error
    return new SqliteHistory(openDatabase(file).db, file)
  }
}
