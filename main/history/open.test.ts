import { mkdtempSync, readFileSync, readdirSync, rmSync, truncateSync, writeFileSync, openSync, writeSync, closeSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openHistory } from '.'
import { Database } from './database'
import { migrate, MIGRATIONS } from './migrate'
import { openSqlite } from './sqlite'
import { testCase, testEnvironment, testResult, testSettings } from './testing'

let folder: string
let file: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'opscope-open-'))
  file = join(folder, 'history.db')
})
afterEach(() => rmSync(folder, { recursive: true }))

function fill(count: number): string {
  const { history } = openHistory(file)
  const { id } = history.createSession({ name: 'kept', environment: testEnvironment, settings: testSettings, cases: [] })
  for (let i = 0; i < count; i++) history.addResult(id, testResult(`r${i}`, testCase(i), 200))
  history.close()
  return id
}

const aside = () => readdirSync(folder).filter((name) => name.startsWith('history.db.damaged-') && !/-(wal|shm)$/.test(name))

function expectKeptAside(content: Buffer): void {
  const { history, notice } = openHistory(file)
  expect(history.listSessions({ search: '', deleted: false })).toEqual([])
  history.createSession({ name: 'new', environment: testEnvironment, settings: testSettings, cases: [] })
  history.close()
  const [kept] = aside()
  expect(notice).toContain(kept)
  expect(readFileSync(join(folder, kept!)).equals(content)).toBe(true)
  const again = openHistory(file)
  expect(again.notice).toBeUndefined()
  expect(again.history.listSessions({ search: '', deleted: false })).toHaveLength(1)
  again.history.close()
}

describe('a damaged file is kept aside and the user is told', () => {
  test('not a database', () => {
    writeFileSync(file, 'these are my notes, not a database '.repeat(100))
    expectKeptAside(readFileSync(file))
  })

  test('cut in the middle', () => {
    fill(20)
    truncateSync(file, Math.floor(statSync(file).size / 2 / 4096) * 4096)
    expectKeptAside(readFileSync(file))
  })

  test('pages overwritten', () => {
    fill(20)
    const handle = openSync(file, 'r+')
    writeSync(handle, Buffer.alloc(3 * 4096, 0xa5), 0, 3 * 4096, 4096)
    closeSync(handle)
    expectKeptAside(readFileSync(file))
  })

  test("another program's database", () => {
    const other = openSqlite(file)
    other.exec('create table recipes (name text); insert into recipes values (1)')
    other.close()
    expectKeptAside(readFileSync(file))
  })

  test('twice in the same second, under two names', () => {
    for (const content of ['first damaged file '.repeat(100), 'second damaged file '.repeat(100)]) {
      writeFileSync(file, content)
      for (const suffix of ['-wal', '-shm']) rmSync(file + suffix, { force: true })
      openHistory(file).history.close()
    }
    expect(aside().map((name) => readFileSync(join(folder, name), 'utf8').slice(0, 6)).sort()).toEqual(['first ', 'second'])
  })
})

describe('the schema', () => {
  test('an empty file becomes a history', () => {
    writeFileSync(file, '')
    const { history, notice } = openHistory(file)
    expect(notice).toBeUndefined()
    expect(history.ceilings()).toEqual([])
    history.close()
  })

  test('an older file is brought up to date with its sessions', () => {
    const old = new Database(openSqlite(file))
    migrate(old, MIGRATIONS.slice(0, 1))
    old.connection.exec(`insert into sessions (id, name, created_at, notes, tags, state, planned, ops, devices) values ('s', 'old', '2025-01-01T00:00:00Z', '', '[]', 'done', 1, '["add"]', '[]')`)
    old.close()
    const { history, notice } = openHistory(file)
    expect(notice).toBeUndefined()
    expect(history.listSessions({ search: '', deleted: false })).toMatchObject([{ id: 's', name: 'old' }])
    expect(history.ceilings()).toEqual([])
    history.close()
  })

  test('a newer file is refused in words and left as it is', () => {
    fill(1)
    const newer = openSqlite(file)
    newer.exec('pragma user_version = 99')
    newer.close()
    const before = readFileSync(file)
    expect(() => openHistory(file)).toThrow(/newer version of Opscope/)
    expect(readFileSync(file).equals(before)).toBe(true)
    expect(aside()).toEqual([])
  })

  test('commits are durable and references are enforced', () => {
    openHistory(file).history.close()
    const { history } = openHistory(file)
    const db = (history as unknown as { db: Database }).db
    const pragma = (name: string) => Object.values(db.connection.prepare(`pragma ${name}`).get() ?? {})[0]
    expect([pragma('journal_mode'), pragma('synchronous'), pragma('foreign_keys')]).toEqual(['wal', 2, 1])
    history.close()
  })
})
