import { closeSync, existsSync, openSync, rmSync, statSync, writeSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { reasonOf } from '../../write-file'

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

/** The history cannot be written, or is no longer where it was: path, reason and what to do about it. */
export class AccessError extends Error {
  override name = 'AccessError'
}

/** The file has lost its name: what this process stored from then on ends with it. */
export class MisplacedError extends AccessError {
  override name = 'MisplacedError'
}

/** SQLite's codes for a file, folder or disk that does not take what is written: PERM, READONLY, IOERR, FULL, CANTOPEN. */
const REFUSED = new Set([3, 8, 10, 13, 14])
const SYSTEM = new Set(['EACCES', 'EPERM', 'EROFS', 'ENOSPC', 'EDQUOT', 'EIO', 'EFBIG'])

/** Whether this error says that the place of the file refuses to be written. */
export function saysRefused(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if ('errcode' in error && typeof error.errcode === 'number') return REFUSED.has(error.errcode & 0xff)
  return 'code' in error && typeof error.code === 'string' && SYSTEM.has(error.code)
}

/** As much as SQLite needs beside the file to open it. */
const PROBE_BYTES = 64 * 1024

/** Why nothing can be written to `file` or beside it: SQLite's own words tell neither which file nor why. Undefined where it can be written. */
function whyNot(file: string): { code: unknown; reason: string } | undefined {
  const probe = join(dirname(file), `.opscope-probe-${process.pid}`)
  try {
    const handle = openSync(probe, 'wx', 0o600)
    try {
      const bytes = new Uint8Array(PROBE_BYTES)
      for (let written = 0; written < bytes.length; ) written += writeSync(handle, bytes, written)
    } finally {
      closeSync(handle)
      rmSync(probe, { force: true })
    }
    if (statSync(file, { throwIfNoEntry: false })) closeSync(openSync(file, 'r+'))
    return undefined
  } catch (error) {
    return { code: (error as { code?: unknown }).code, reason: reasonOf(error) }
  }
}

/** `: the disk is full. Free some space …`: what stands behind the name of a file that `error` says cannot be written. */
export function explain(file: string, error: unknown): string {
  const why = whyNot(file)
  const full = why?.code === 'ENOSPC' || why?.code === 'EDQUOT' || (error as { errcode?: unknown }).errcode === 13
  const reason = why?.reason ?? (full ? 'the disk is full' : error instanceof Error ? error.message : String(error))
  return `: ${reason}. ${full ? 'Free some space' : 'Make the file and its folder writable'}, or set OPSCOPE_DATA_DIR to another folder.`
}

/** Does `write`; a refusal of the file's place becomes an AccessError in words. */
export function inWords<T>(file: string, write: () => T): T {
  try {
    return write()
  } catch (error) {
    if (!saysRefused(error)) throw error
    throw new AccessError(`The history ${file} could not be written${explain(file, error)}`, { cause: error })
  }
}

/** Opens a file for reading alone. One without a log is, where that must be, read as one that nobody changes: SQLite would have to write beside it. */
export function openReadOnly(file: string): DatabaseSync {
  try {
    return readable(file)
  } catch (error) {
    const hasLog = (statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0
    if (!saysRefused(error) || hasLog || !existsSync(file)) throw error
    const asItIs = pathToFileURL(file)
    asItIs.searchParams.set('immutable', '1')
    return readable(asItIs)
  }
}

function readable(name: string | URL): DatabaseSync {
  const connection = openSqlite(name, { readOnly: true })
  try {
    // Opening alone reads nothing.
    connection.prepare('pragma schema_version').get()
    return connection
  } catch (error) {
    connection.close()
    throw error
  }
}

/** Identity of the file that has this name now; undefined where there is none. */
export function identityOf(file: string): string | undefined {
  const stat = statSync(file, { bigint: true, throwIfNoEntry: false })
  return stat && `${stat.dev}:${stat.ino}`
}
