import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { machineOf } from '@core/analysis/case-history'
import { caseId } from '@core/case'
import type { MeasureSettings } from '@core/measure/settings'
import type { Result } from '@core/result'
import type { Ceiling, Environment, NoiseFloor } from '@core/session/types'
import { store } from '../queries/codec'
import { Database } from '../database/database'
import { migrate, MIGRATIONS } from '../database/migrate'
import { openSqlite } from '../database/sqlite'

/** What every database under test/fixtures/history holds, as far as its schema has a place for it. Never changed: files of earlier schemas hold it. */
export const FIXTURE = JSON.parse(readFileSync(resolve(import.meta.dirname, '../../../test/fixtures/history/contents.json'), 'utf8')) as {
  sessions: { id: string; name: string; results: Result[] }[]
  environment: Environment
  settings: MeasureSettings
  ceiling: Ceiling
  floor: NoiseFloor
}

type Value = string | number | null | Uint8Array
type Row = Record<string, Value>

/** Rows of each table, in an order that references allow. `hasColumn`: what the schema has a place for. */
function rowsOf(hasColumn: (table: string, column: string) => boolean): [table: string, row: Row][] {
  const rows: [string, Row][] = []
  let key = 0
  FIXTURE.sessions.forEach(({ id, name, results }, s) => {
    const session = s + 1
    rows.push(['sessions', { key: session, id, name, created_at: `2026-02-0${session}T10:00:00.000Z`, notes: 'kept\nby every version', tags: '["fixture","old"]', state: 'done', planned: results.length, results: results.length, failures: results.filter(({ status }) => status !== 'ok').length, ops: '["add"]', devices: '["Test CPU 9000"]', deleted_at: null, owner: null, about: null, adds_to: null, machine: JSON.stringify(machineOf(FIXTURE.environment)) }])
    rows.push(['session_details', { session, spec: null, settings: JSON.stringify(FIXTURE.settings), environment: JSON.stringify(FIXTURE.environment) }])
    results.forEach((result, position) => {
      key++
      const { json, samples, clocks, probes, status, grade, message, numbers } = store(result)
      // Versions without places for the figures beside each sample kept them with the rest.
      const { clocksMhz, probesNs } = result
      const inBody = !hasColumn('bodies', 'clocks') && clocksMhz ? JSON.stringify({ ...(JSON.parse(json) as object), clocksMhz, probesNs }) : json
      rows.push(['cases', { key, identity: caseId(result.case), json: JSON.stringify(result.case) }])
      rows.push(['planned', { session, position, case_key: key }])
      rows.push(['bodies', { key, json: inBody, samples, clocks, probes }])
      rows.push(['results', { session, position, id: result.id, case_key: key, body: key, status, grade, message, numbers }])
    })
  })
  const { ceiling, floor } = FIXTURE
  rows.push(['ceilings', { backend: ceiling.backend, device: ceiling.device, device_name: ceiling.deviceName, driver: '', kind: ceiling.kind, json: JSON.stringify(ceiling) }])
  rows.push(['noise_floors', { backend: floor.backend, device: floor.device, device_name: floor.deviceName, driver: '', json: JSON.stringify(floor) }])
  return rows
}

const literal = (value: Value): string => {
  if (value === null) return 'null'
  if (typeof value === 'number') return String(value)
  if (typeof value === 'string') return `'${value.replaceAll("'", "''")}'`
  return `x'${Buffer.from(value).toString('hex')}'`
}

/** A database of schema `version` with the fixture in it, as SQL text that SQLite alone can read. */
export function fixtureSql(version: number): string {
  const db = new Database(openSqlite(':memory:'))
  try {
    migrate(db, MIGRATIONS.slice(0, version))
    const all = (sql: string) => db.connection.prepare(sql).all() as Record<string, Value>[]
    const schema = all(`select sql from sqlite_master where sql is not null order by rowid`).map(({ sql }) => `${String(sql)};`)
    const columns = new Map(all(`select name from sqlite_master where type = 'table'`).map(({ name }) => [String(name), new Set(all(`pragma table_info("${String(name)}")`).map((column) => String(column['name'])))]))
    const inserts = rowsOf((table, column) => columns.get(table)?.has(column) === true).flatMap(([table, row]) => {
      const known = Object.entries(row).filter(([column]) => columns.get(table)?.has(column))
      return known.length === 0 ? [] : [`insert into "${table}" (${known.map(([column]) => column).join(', ')}) values (${known.map(([, value]) => literal(value)).join(', ')});`]
    })
    const pragma = (name: string) => `pragma ${name} = ${String(Object.values(all(`pragma ${name}`)[0]!)[0])};`
    return `${[pragma('application_id'), pragma('user_version'), ...schema, ...inserts].join('\n')}\n`
  } finally {
    db.close()
  }
}
