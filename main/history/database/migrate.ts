import type { Compilable, Kysely } from 'kysely'
import { Database, query } from './database'
import { openSqlite } from './sqlite'
import type { Tables } from './tables'

/** One step of the schema: statements to run in order. A released step is never changed; a change is a new step. */
export type Migration = (db: Kysely<Tables>) => readonly Compilable[]

const modules = import.meta.glob<{ default: Migration }>('./migrations/*.ts', { eager: true })

/** All steps by number: file `00n-what.ts` is step n. */
export const MIGRATIONS: readonly Migration[] = Object.keys(modules)
  .sort()
  .map((path) => modules[path]!.default)

/** SQLite's mark for whose file this is: "OPSC". */
export const APPLICATION_ID = 0x4f505343

const pragma = (db: Database, name: string): number => Number(Object.values(db.connection.prepare(`pragma ${name}`).get() ?? {})[0] ?? 0)

/** Version of a database's schema: how many steps it has behind it; 0 for a new file. */
export const schemaOf = (db: Database): number => pragma(db, 'user_version')

/** Whether a database holds a history; a new, empty file does not. */
export const isHistory = (db: Database): boolean => pragma(db, 'application_id') === APPLICATION_ID

/** Brings a database to the newest schema, step by step, each step whole or not at all. Throws when it comes from a newer version. */
export function migrate(db: Database, steps: readonly Migration[] = MIGRATIONS): void {
  if (pragma(db, 'user_version') === steps.length) return
  db.transaction(() => {
    // Read again under the lock: another process may have done it meanwhile.
    const version = pragma(db, 'user_version')
    if (version > steps.length) {
      throw new Error(`This history was written by a newer version of Opscope (schema ${version}; this version reads up to ${steps.length}).`)
    }
    for (const step of steps.slice(version)) for (const statement of step(query)) db.run(statement)
    db.connection.exec(`pragma application_id = ${APPLICATION_ID}`)
    db.connection.exec(`pragma user_version = ${steps.length}`)
  })
}

/** `table.column` of every table. */
function columnsOf(db: Database): Set<string> {
  const rows = db.connection.prepare("select m.name || '.' || c.name as name from sqlite_master m join pragma_table_info(m.name) c where m.type = 'table'").all() as { name: string }[]
  return new Set(rows.map(({ name }) => name))
}

/**
 * Raises a schema number that is lower than the tables say, as another program or a copy by SQL can leave it: the steps
 * that it asks for are done, and doing them again would fail at each start.
 */
export function correctSchema(db: Database): void {
  const stated = schemaOf(db)
  if (stated === 0 || stated >= MIGRATIONS.length) return
  const present = columnsOf(db)
  const reference = new Database(openSqlite(':memory:'))
  try {
    migrate(reference, MIGRATIONS.slice(0, stated))
    let known = columnsOf(reference)
    let actual = stated
    for (let next = stated + 1; next <= MIGRATIONS.length; next++) {
      migrate(reference, MIGRATIONS.slice(0, next))
      const columns = columnsOf(reference)
      // A step that adds no column leaves no trace by which it could be told from one that was not taken.
      const added = [...columns].filter((column) => !known.has(column))
      if (added.length === 0 || !added.every((column) => present.has(column))) break
      known = columns
      actual = next
    }
    if (actual > stated) db.connection.exec(`pragma user_version = ${actual}`)
  } finally {
    reference.close()
  }
}

/** Whether this is our file or a new one; false for another program's database. */
export function isOurs(db: Database): boolean {
  const id = pragma(db, 'application_id')
  return id === APPLICATION_ID || (id === 0 && pragma(db, 'schema_version') === 0)
}
