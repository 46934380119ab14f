import { openDatabase } from './open'
import { purge } from './sessions'
import { SqliteHistory } from './sqlite-history'
import type { History } from './types'

/** How long a deleted session can still be restored at a later start. */
const KEEP_DELETED_MS = 24 * 3600 * 1000

/**
 * Opens the history in this file, creating it when missing. `notice` is for the user: a damaged file was kept aside.
 * Throws when the file cannot be used and is not damaged: no access, or written by a newer version.
 */
export function openHistory(file: string): { history: History; notice?: string } {
  const { db, notice } = openDatabase(file)
  purge(db, Date.now() - KEEP_DELETED_MS)
  const history = new SqliteHistory(db, file)
  return notice === undefined ? { history } : { history, notice }
}

export { NotFoundError, type History, type NewSession } from './types'
