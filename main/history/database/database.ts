import { DummyDriver, Kysely, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler, type Compilable } from 'kysely'
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import { AccessError, inWords } from './sqlite'
import type { Tables } from './tables'

/** Writes typed SQL. It has no connection: Kysely runs queries asynchronously and history is synchronous. */
export const query = new Kysely<Tables>({
  dialect: {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  },
})

/** Runs what `query` writes, synchronously, with prepared statements kept by their text. What refuses to be written is told as an AccessError. */
export class Database {
  readonly #statements = new Map<string, StatementSync>()

  /** `file`: its name for messages; `readOnly`: the message with which everything that writes is refused. */
  constructor(
    readonly connection: DatabaseSync,
    readonly file = 'in memory',
    readonly readOnly?: string,
  ) {}

  prepare(text: string): StatementSync {
    let statement = this.#statements.get(text)
    if (!statement) {
      statement = this.connection.prepare(text)
      this.#statements.set(text, statement)
    }
    return statement
  }

  all<Row>(compilable: Compilable<Row>): Row[] {
    const { sql, parameters } = compilable.compile()
    return this.prepare(sql).all(...(parameters as SQLInputValue[])) as Row[]
  }

  first<Row>(compilable: Compilable<Row>): Row | undefined {
    return this.all(compilable)[0]
  }

  /** Runs a statement that returns no rows. */
  run(compilable: Compilable<unknown>): { changes: number; lastInsertRowid: number } {
    const { sql, parameters } = compilable.compile()
    const { changes, lastInsertRowid } = this.#writing(() => this.prepare(sql).run(...(parameters as SQLInputValue[])))
    return { changes: Number(changes), lastInsertRowid: Number(lastInsertRowid) }
  }

  /** An insert of these columns, written once and run many times; returns the row's key. */
  inserter<T extends keyof Tables, C extends keyof Tables[T] & string>(table: T, columns: readonly C[]): (values: readonly SQLInputValue[]) => number {
    const names = columns.map((column) => `"${column}"`).join(', ')
    const text = `insert into "${table}" (${names}) values (${columns.map(() => '?').join(', ')})`
    return (values) => Number(this.prepare(text).run(...values).lastInsertRowid)
  }

  /** All or nothing. Takes the write lock at once, so that another process waits instead of failing half way. */
  transaction<T>(work: () => T): T {
    return this.#writing(() => this.#transaction(work))
  }

  #writing<T>(write: () => T): T {
    if (this.readOnly !== undefined) throw new AccessError(this.readOnly)
    return inWords(this.file, write)
  }

  #transaction<T>(work: () => T): T {
    this.connection.exec('begin immediate')
    try {
      const value = work()
      this.connection.exec('commit')
      return value
    } catch (error) {
      try {
        this.connection.exec('rollback')
      } catch {
        // SQLite has already rolled back (disk full, I/O error); the first error is the one to tell.
      }
      throw error
    }
  }

  close(): void {
    this.#statements.clear()
    this.connection.close()
  }
}
