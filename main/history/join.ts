import { saysRefused } from './access'
import { Database } from './database'
import { BUSY_MS, openDatabase } from './open'
import { openSqlite } from './sqlite'
import { SqliteHistory } from './sqlite-history'

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
