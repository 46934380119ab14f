import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { caseId } from '@core/case'
import { openHistory } from '../../history'
import { Database } from './database'
import { prepareRestore } from '../maintenance/backup'
import { checkFile } from '../maintenance/check'
import { migrate, MIGRATIONS } from './migrate'
import { openSqlite } from './sqlite'
import { FIXTURE } from '../testing/fixture'

const fixtures = resolve(import.meta.dirname, '../../../test/fixtures/history')
const sqlOf = (version: number) => readFileSync(join(fixtures, `schema-${version}.sql`), 'utf8')
const VERSIONS = MIGRATIONS.map((_, i) => i + 1)

let folder: string
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'opscope-upgrade-'))))
afterEach(() => rmSync(folder, { recursive: true }))

function build(version: number, name = 'history.db'): string {
  const file = join(folder, name)
  const db = openSqlite(file)
  db.exec(sqlOf(version))
  db.close()
  return file
}

/** Tables, columns and indexes, however they were written down. */
function schemaOf(db: Database): unknown {
  const all = (sql: string) => db.connection.prepare(sql).all() as Record<string, unknown>[]
  const tables = all(`select name from sqlite_master where type = 'table' order by name`).map(({ name }) => String(name))
  return tables.map((table) => ({
    table,
    columns: all(`pragma table_info("${table}")`).map(({ name, type, notnull, pk }) => ({ name, type, notnull, pk })),
    references: all(`pragma foreign_key_list("${table}")`).map(({ from, table: to, to: column }) => ({ from, to, column })),
    indexes: all(`pragma index_list("${table}")`).map(({ name, unique }) => ({ name, unique, columns: all(`pragma index_info("${String(name)}")`).map((column) => column['name']) })).sort((a, b) => String(a.name).localeCompare(String(b.name))),
  }))
}

function fresh(version: number): Database {
  const db = new Database(openSqlite(':memory:'))
  migrate(db, MIGRATIONS.slice(0, version))
  return db
}

test('there is a file of every schema that was ever written', () => {
  expect(readdirSync(fixtures).filter((name) => name.endsWith('.sql')).sort()).toEqual(VERSIONS.map((version) => `schema-${version}.sql`).sort())
})

describe.each(VERSIONS)('a history of schema %i', (version) => {
  test('is what its steps make: a released step was not changed', () => {
    const [file, made] = [new Database(openSqlite(build(version))), fresh(version)]
    expect(schemaOf(file)).toEqual(schemaOf(made))
    file.close()
    made.close()
  })

  test('comes to today\'s schema one version at a time, the same as all at once', () => {
    const [one, all, made] = [new Database(openSqlite(build(version))), new Database(openSqlite(build(version, 'all.db'))), fresh(MIGRATIONS.length)]
    for (let to = version; to <= MIGRATIONS.length; to++) {
      migrate(one, MIGRATIONS.slice(0, to))
      expect(Object.values(one.connection.prepare('pragma user_version').get() ?? {})).toEqual([to])
      expect(one.connection.prepare('pragma foreign_key_check').all()).toEqual([])
    }
    migrate(all)
    expect(schemaOf(one)).toEqual(schemaOf(made))
    expect(schemaOf(all)).toEqual(schemaOf(made))
    const rows = (db: Database, table: string) => db.connection.prepare(`select * from ${table}`).all()
    for (const table of ['sessions', 'session_details', 'cases', 'planned', 'results', 'bodies', 'ceilings', 'noise_floors']) expect(rows(one, table)).toEqual(rows(all, table))
    for (const db of [one, all, made]) db.close()
  })

  test('opens with everything that was in it, and a copy as it was is kept beside it', () => {
    const file = build(version)
    const { history, notice } = openHistory(file)
    expect(notice).toBeUndefined()
    for (const { id, name, results } of FIXTURE.sessions) {
      const exported = history.exportSession(id)
      expect(exported.session).toMatchObject({ name, notes: 'kept\nby every version', tags: ['fixture', 'old'], state: 'done', settings: FIXTURE.settings })
      expect(exported.environment).toEqual(FIXTURE.environment)
      expect(exported.results).toEqual(results)
      expect(history.remaining(id)).toEqual([])
    }
    expect(history.ceilings()).toEqual(version >= 2 ? [FIXTURE.ceiling] : [])
    expect(history.noiseFloors()).toEqual(version >= 3 ? [FIXTURE.floor] : [])
    const [first] = FIXTURE.sessions[0]!.results
    expect(history.caseHistory(caseId(first!.case)).points).toMatchObject([{ sessionId: 'fixture-done', resultId: 'f1', place: expect.arrayContaining([['Device', 'Test CPU 9000']]) as unknown }])
    history.close()
    expect(checkFile(file).findings).toEqual([])
    const kept = readdirSync(folder).filter((name) => name.startsWith('history.db.schema-'))
    expect(kept).toHaveLength(version < MIGRATIONS.length ? 1 : 0)
    for (const name of kept) {
      expect(name).toMatch(new RegExp(`^history\\.db\\.schema-${version}-`))
      const copy = new Database(openSqlite(join(folder, name)))
      const made = fresh(version)
      expect(schemaOf(copy)).toEqual(schemaOf(made))
      copy.close()
      made.close()
    }
  })

  test('can be restored as a backup', () => {
    const file = join(folder, 'now.db')
    const { history } = openHistory(file)
    const { file: prepared, contents, upgradedFrom } = prepareRestore(build(version), file)
    expect(contents).toMatchObject({ sessions: 2, results: 3 })
    expect(upgradedFrom).toBe(version < MIGRATIONS.length ? version : undefined)
    history.replaceFile(prepared)
    expect(history.exportSession('fixture-done').results).toEqual(FIXTURE.sessions[0]!.results)
    history.close()
  })
})
