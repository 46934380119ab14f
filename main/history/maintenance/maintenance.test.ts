import { copyFileSync, existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openHistory, type History } from '..'
import { openSqlite } from '../database/sqlite'
import { failedResult, testCase, testEnvironment, testResult, testSettings } from '../testing/sessions'
import { backUp, MaintenanceError, prepareRestore } from './backup'
import { checkFile } from './check'
import type { Progress } from './copy'

let folder: string
let file: string
let backup: string
let history: History
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'opscope-maintenance-'))
  file = join(folder, 'history.db')
  backup = join(folder, 'backup.db')
  history = openHistory(file).history
})
afterEach(() => {
  history.close()
  rmSync(folder, { recursive: true })
})

function add(name: string, count = 3): string {
  const { id } = history.createSession({ name, environment: testEnvironment, settings: testSettings, cases: [] })
  for (let i = 0; i < count; i++) history.addResult(id, i === 1 ? failedResult(`${name}-${i}`, testCase(i)) : testResult(`${name}-${i}`, testCase(i)))
  history.setState(id, 'done')
  return id
}
const names = (of = history) => of.listSessions({ search: '', deleted: false }).map(({ name }) => name).sort()
/** Changes the file behind the back of the history, as a fault would. */
function damage(sql: string): void {
  const raw = openSqlite(file)
  raw.exec(`pragma foreign_keys = off; ${sql}`)
  raw.close()
}

describe('check', () => {
  test('finds nothing wrong with a history in use, and tells how far it is', () => {
    add('one')
    history.putCeiling({ backend: 'cpu', device: 'cpu', deviceName: 'CPU', kind: 'copy', value: 1, unit: 'bytes/s', measuredAt: '2026-01-01T00:00:00Z', result: testResult('c', testCase(1)) })
    const steps: Progress[] = []
    expect(checkFile(file, (progress) => steps.push(progress))).toMatchObject({ findings: [], sessions: 1, results: 3 })
    expect(steps.map(({ step }) => step)).toEqual(['Reading every page', 'Following references', 'Reading 3 results'])
  })

  test.each([
    ['update results set case_key = 99999 where position = 0', /1 row of results without cases/],
    ['delete from session_details', /1 session without environment/],
    ['delete from bodies where key = 1', /1 result without samples/],
    [`insert into bodies (json, samples) values ('{}', x'')`, /Samples of 1 result that no session has/],
    ['update sessions set results = 7', /another number of results/],
    [`update bodies set json = 'oops'`, /3 results cannot be read/],
    [`update bodies set samples = x'010203' where key = 1`, /1 result cannot be read/],
    [`update results set status = 77 where position = 2`, /1 result cannot be read/],
    [`update cases set json = '{"op":1}' where key = 1`, /1 case cannot be read/],
    [`update session_details set environment = '{}'`, /environment of 1 session/],
    [`update sessions set tags = 'x'`, /tags of 1 session/],
    [`update sessions set state = 'melted'`, /state of 1 session/],
    [`update sessions set created_at = 'x'`, /date of 1 session/],
  ])('tells in words: %s', (sql, words) => {
    add('one')
    damage(sql)
    const { findings } = checkFile(file)
    expect(findings.map(({ message }) => message).join('\n')).toMatch(words)
  })

  test('tells of pages that are overwritten', () => {
    add('one', 40)
    history.close()
    const bytes = readFileSync(file)
    bytes.fill(0xa5, 8192, 8192 + 4096 * 2)
    writeFileSync(file, bytes)
    const report = () => {
      try {
        return checkFile(file).findings.map(({ message }) => message).join()
      } catch (error) {
        return String(error)
      }
    }
    expect(report()).toMatch(/damaged|malformed/)
    history = openHistory(join(folder, 'other.db')).history
  })
})

describe('backup and restore', () => {
  test('bring everything back to the bit, keep what was there, and go on in the same history', () => {
    const id = add('kept')
    const exported = history.exportSession(id)
    expect(backUp(file, backup)).toMatchObject({ name: 'backup.db', sessions: 1, results: 3 })
    add('later')
    const { file: prepared, contents, upgradedFrom } = prepareRestore(backup, file)
    expect(contents).toMatchObject({ sessions: 1, results: 3 })
    expect(upgradedFrom).toBeUndefined()
    expect(names()).toEqual(['kept', 'later'])
    const kept = history.replaceFile(prepared)
    expect(names()).toEqual(['kept'])
    expect(history.exportSession(id)).toEqual(exported)
    add('after')
    expect(names()).toEqual(['after', 'kept'])
    const before = openHistory(kept).history
    expect(names(before)).toEqual(['kept', 'later'])
    before.close()
    expect(readdirSync(folder).filter((name) => /part|restoring/.test(name))).toEqual([])
  })

  test('a backup is made while another process writes, and replaces an older one whole', () => {
    add('one')
    backUp(file, backup)
    const { history: other } = openHistory(file)
    add('two')
    expect(backUp(file, backup).sessions).toBe(2)
    other.close()
    expect(checkFile(backup).findings).toEqual([])
  })

  test('the history itself is no place for a backup, nor is a folder that is not there', () => {
    add('one')
    expect(() => backUp(file, file)).toThrow(/history itself/)
    expect(() => backUp(file, join(folder, 'nowhere', 'b.db'))).toThrow(MaintenanceError)
    expect(names()).toEqual(['one'])
  })

  test.each([
    ['missing', () => undefined, /is not there/],
    ['not a database', () => writeFileSync(backup, 'holiday pictures '.repeat(500)), /no SQLite file/],
    ['an empty file', () => writeFileSync(backup, ''), /not a history of Opscope/],
    ['another program\'s database', () => { const other = openSqlite(backup); other.exec('create table recipes (name text)'); other.close() }, /not a history of Opscope/],
    ['cut off', () => { backUp(file, backup); truncateSync(backup, 40960) }, /damaged/],
    ['of a newer version', () => { backUp(file, backup); const newer = openSqlite(backup); newer.exec('pragma user_version = 99'); newer.close() }, /newer version of Opscope \(schema 99/],
    ['with results of no session', () => { damage('delete from sessions where id <> (select min(id) from sessions)'); backUp(file, backup) }, /whose session is gone/],
  ])('a file that is %s is refused in words and leaves everything as it is', (_what, make, words) => {
    add('one', 30)
    add('two', 30)
    make()
    const before = existsSync(backup) ? readFileSync(backup) : undefined
    const here = names()
    expect(() => prepareRestore(backup, file)).toThrow(words)
    expect(() => prepareRestore(backup, file)).toThrow(/Nothing was changed\.$/)
    expect(names()).toEqual(here)
    if (before) expect(readFileSync(backup).equals(before)).toBe(true)
    expect(readdirSync(folder).filter((name) => /part|restoring/.test(name))).toEqual([])
  })

  test('waits for a run to end, and for other processes to close the file', () => {
    add('one')
    backUp(file, backup)
    const { id } = history.createSession({ name: 'running', environment: testEnvironment, settings: testSettings, cases: [] })
    const { file: prepared } = prepareRestore(backup, file)
    expect(() => history.replaceFile(prepared)).toThrow(/run is in progress/)
    history.setState(id, 'stopped')
    const { history: other } = openHistory(file)
    expect(() => history.replaceFile(prepared)).toThrow(/Another Opscope/)
    expect(names()).toEqual(['one', 'running'])
    other.close()
    history.replaceFile(prepared)
    expect(names()).toEqual(['one'])
  })

  test('a copy of the file itself, with its log beside it, can be restored too', () => {
    add('one')
    for (const suffix of ['', '-wal', '-shm']) if (existsSync(file + suffix)) copyFileSync(file + suffix, backup + suffix)
    add('two')
    history.replaceFile(prepareRestore(backup, file).file)
    expect(names()).toEqual(['one'])
  })
})
