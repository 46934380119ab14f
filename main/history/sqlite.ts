import { createRequire } from 'node:module'
import type { DatabaseSync } from 'node:sqlite'

type Sqlite = { DatabaseSync: new (file: string | URL, options?: { readOnly?: boolean }) => DatabaseSync }

/** SQLite of the runtime (Node 22.5 and later), or the package with the same interface that carries its own (Electron 33, Node 20). */
function load(): Sqlite {
  const builtIn: Sqlite | undefined = process.getBuiltinModule?.('node:sqlite')
  if (builtIn) return builtIn
  return createRequire(import.meta.url)('@photostructure/sqlite') as Sqlite
}

/** Opens a file as SQLite, creating it when missing; `readOnly` neither creates nor changes it. An URL may have parameters of SQLite's. */
export function openSqlite(file: string | URL, { readOnly = false } = {}): DatabaseSync {
  const { DatabaseSync } = load()
  return new DatabaseSync(file, { readOnly })
}

const CORRUPT = 11
const NOT_A_DATABASE = 26

/** Whether this error says that the file itself is damaged, not that it is busy or a statement is wrong. */
export function saysDamaged(error: unknown): boolean {
  const code = error instanceof Error && 'errcode' in error && typeof error.errcode === 'number' ? error.errcode & 0xff : undefined
  return code === CORRUPT || code === NOT_A_DATABASE
}
