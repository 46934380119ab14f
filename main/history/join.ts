import { Database } from './database'
import { BUSY_MS } from './open'
import { openSqlite } from './sqlite'
import { SqliteHistory } from './sqlite-history'

/** Opens a history that another process of this app has open, and so has checked and brought up to date. Close it after use. */
export function joinHistory(file: string): SqliteHistory {
  const connection = openSqlite(file)
  connection.exec(`pragma busy_timeout = ${BUSY_MS}`)
  connection.exec('pragma synchronous = full')
  connection.exec('pragma foreign_keys = on')
  return new SqliteHistory(new Database(connection), file)
}
