import { openDatabase } from './open'
import { purge } from './sessions'
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
