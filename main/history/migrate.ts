import type { Compilable, Kysely } from 'kysely'
import { query, type Database } from './database'
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
      throw new Error(`This history was written by a newer version of Opscope (schema ${version}; this version knows up to ${steps.length}).`)
    }
    for (const step of steps.slice(version)) for (const statement of step(query)) db.run(statement)
    db.connection.exec(`pragma application_id = ${APPLICATION_ID}`)
    db.connection.exec(`pragma user_version = ${steps.length}`)
  })
}

/** Whether this is our file or a new one; false for another program's database. */
export function isOurs(db: Database): boolean {
  const id = pragma(db, 'application_id')
  return id === APPLICATION_ID || (id === 0 && pragma(db, 'schema_version') === 0)
}
