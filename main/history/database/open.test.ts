import { chmodSync, mkdtempSync, readFileSync, readdirSync, rmSync, truncateSync, writeFileSync, openSync, writeSync, closeSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openHistory } from '../../history'
import { Database } from './database'
import { backUp } from '../maintenance/backup'
import { migrate, MIGRATIONS } from './migrate'
import { openSqlite } from './sqlite'
import { testCase, testEnvironment, testResult, testSettings } from '../testing/sessions'

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

  test.each(MIGRATIONS.map((_, i) => i + 1))('a file whose schema number is %i and whose tables are those of today is opened with its sessions, and no copy is made', (number) => {
    const id = fill(3)
    const raw = openSqlite(file)
    raw.exec(`pragma user_version = ${number}`)
    raw.close()
    for (let start = 0; start < 2; start++) {
      const { history, notice } = openHistory(file)
      expect(notice).toBeUndefined()
      expect(history.exportSession(id).results).toHaveLength(3)
      history.close()
    }
    expect(readdirSync(folder)).toEqual(['history.db'])
  })

  test('a file of before drivers, noise floors and figures beside samples keeps its ceilings and results', () => {
    const old = new Database(openSqlite(file))
    migrate(old, MIGRATIONS.slice(0, 2))
    const c = testCase(1)
    const { case: _case, samplesNs, ...body } = testResult('r', c, 4)
    const ceiling = { backend: 'cpu', device: 'cpu', deviceName: 'CPU', kind: 'copy', value: 1e10, unit: 'bytes/s', measuredAt: '2026-01-01T00:00:00Z', result: testResult('c', c) }
    const insert = (sql: string, ...values: (string | Uint8Array)[]) => old.connection.prepare(sql).run(...values)
    insert(`insert into sessions (key, id, name, created_at, notes, tags, state, planned, results, ops, devices) values (1, 's', 'old', '2025-01-01T00:00:00Z', '', '[]', 'done', 1, 1, '["add"]', '[]')`)
    insert(`insert into session_details (session, environment) values (1, ?)`, JSON.stringify(testEnvironment))
    insert(`insert into cases (key, identity, json) values (1, 'x', ?)`, JSON.stringify(c))
    // As such a version wrote a result that already had clocks.
    insert(`insert into bodies (key, json, samples) values (1, ?, ?)`, JSON.stringify({ ...body, clocksMhz: [1980, 1979.5] }), new Uint8Array(Float64Array.from(samplesNs).buffer))
    insert(`insert into results (session, position, id, case_key, body, status, grade, numbers) values (1, 0, 'r', 1, 1, 0, 1, x'')`)
    insert(`insert into ceilings (backend, device, device_name, kind, json) values ('cpu', 'cpu', 'CPU', 'copy', ?)`, JSON.stringify(ceiling))
    old.close()
    const { history } = openHistory(file)
    expect(history.ceilings()).toEqual([ceiling])
    expect(history.result('r')).toEqual({ ...testResult('r', c, 4), clocksMhz: [1980, 1979.5] })
    expect(history.summary('s')).not.toHaveProperty('about')
    expect(history.noiseFloors()).toEqual([])
    history.addResult('s', { ...testResult('new', c, 2), probesNs: [1, 2] })
    expect(history.result('new').probesNs).toEqual([1, 2])
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

test.runIf(process.platform !== 'win32')('only the owner can read the history, its log, a copy and what an earlier version left open to others', () => {
  const others = (path: string) => statSync(path).mode & 0o077
  fill(3)
  chmodSync(file, 0o644)
  const { history } = openHistory(file)
  history.createSession({ name: 'later', environment: testEnvironment, settings: testSettings, cases: [] })
  expect(backUp(file, join(folder, 'backup.db')).sessions).toBe(2)
  for (const name of readdirSync(folder)) expect(others(join(folder, name)), name).toBe(0)
  expect(readdirSync(folder)).toEqual(expect.arrayContaining(['backup.db', 'history.db', 'history.db-wal']))
  history.close()
})
