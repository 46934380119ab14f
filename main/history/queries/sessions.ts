import { hostname } from 'node:os'
import { sql, type Selectable } from 'kysely'
import { z } from 'zod'
import { machineOf } from '@core/analysis/case-history'
import type { BenchmarkCase } from '@core/case'
import type { Result } from '@core/result'
import { recordedCeilings } from '@core/roofline/ceilings'
import { sessionSchema, sessionStateSchema, type Ceiling, type Environment, type Session, type SessionSummary } from '@core/session/types'
import { parseStored } from './codec'
import { query, type Database } from '../database/database'
import type { SessionsTable } from '../database/tables'
import { NotFoundError } from '../types'

export type SessionRow = Selectable<SessionsTable>

const aboutSchema = sessionSchema.shape.about

const strings = z.array(z.string())
const count = z.number().int().nonnegative()

/** JSON that cannot be parsed is as wrong as JSON of something else. */
function parsed(json: unknown): unknown {
  try {
    return JSON.parse(String(json))
  } catch {
    return undefined
  }
}

/** The line of a session. What of it cannot be read is left empty and told in `damaged`: it must not hide the other sessions, nor its own results. */
export function summaryOf(row: SessionRow): SessionSummary {
  const damaged: string[] = []
  function take<T>(what: string, schema: z.ZodType<T>, value: unknown, otherwise: T): T {
    const read = schema.safeParse(value)
    if (read.success) return read.data
    damaged.push(what)
    return otherwise
  }
  const about = row.about === null ? undefined : take('kind', aboutSchema, { kind: row.about, ...(row.adds_to === null ? {} : { session: row.adds_to }) }, undefined)
  const summary: SessionSummary = {
    id: row.id,
    name: take('name', z.string(), row.name, 'Damaged session'),
    createdAt: take('date', z.string().refine((text) => !Number.isNaN(Date.parse(text))), row.created_at, new Date(0).toISOString()),
    notes: take('notes', z.string(), row.notes, ''),
    tags: take('tags', strings, parsed(row.tags), []),
    state: take('state', sessionStateSchema, row.state, 'interrupted'),
    planned: take('number of cases', count, row.planned, 0),
    results: take('number of results', count, row.results, 0),
    failures: take('number of failures', count, row.failures, 0),
    ops: take('operations', strings, parsed(row.ops), []),
    devices: take('devices', strings, parsed(row.devices), []),
    ...(about ? { about } : {}),
  }
  return damaged.length === 0 ? summary : { ...summary, damaged: damaged.join(', ') }
}

/** The line of a session. Throws NotFoundError. */
export function sessionRow(db: Database, id: string): SessionRow {
  const row = db.first(query.selectFrom('sessions').selectAll().where('id', '=', id))
  if (!row) throw new NotFoundError(`There is no session “${id}” in the history.`)
  return row
}

export interface SessionToInsert {
  session: Session
  environment: Environment
  ops: readonly string[]
  devices: readonly string[]
  owner: string | null
}

/** Writes a session without results; call inside a transaction. Returns its key. */
export function insertSession(db: Database, { session, environment, ops, devices, owner }: SessionToInsert): number {
  const { lastInsertRowid: key } = db.run(
    query.insertInto('sessions').values({
      id: session.id, name: session.name, created_at: session.createdAt, notes: session.notes, tags: JSON.stringify(session.tags),
      state: session.state, planned: session.planned, ops: JSON.stringify(ops), devices: JSON.stringify(devices), owner,
      about: session.about?.kind ?? null, adds_to: session.about?.session ?? null, machine: JSON.stringify(machineOf(environment)),
    }),
  )
  db.run(
    query.insertInto('session_details').values({
      session: key,
      spec: session.spec ? JSON.stringify(session.spec) : null,
      settings: session.settings ? JSON.stringify(session.settings) : null,
      environment: JSON.stringify(environment),
    }),
  )
  return key
}

/** A session with the environment it was made in. */
export function loadSession(db: Database, row: SessionRow): { session: Session; environment: Environment } {
  const details = db.first(query.selectFrom('session_details').selectAll().where('session', '=', row.key))
  if (!details) throw new NotFoundError(`Session ${row.id} has lost its details.`)
  const { id, name, createdAt, notes, tags, state, planned, about } = summaryOf(row)
  const session: Session = { id, name, createdAt, notes, tags, state, planned }
  if (about) session.about = about
  const what = (part: string) => `The ${part} of session "${name}" (${id})`
  if (details.spec !== null) session.spec = parseStored<NonNullable<Session['spec']>>(details.spec, what('sweep'))
  if (details.settings !== null) session.settings = parseStored<NonNullable<Session['settings']>>(details.settings, what('settings'))
  return { session, environment: parseStored<Environment>(details.environment, what('environment')) }
}

/** A session of this machine from before its ceilings were recorded, or measured, has those that are `known` here now. */
export function withCeilings(loaded: { session: Session; environment: Environment }, known: () => readonly Ceiling[]): { session: Session; environment: Environment } {
  const { session, environment } = loaded
  if (environment.ceilings || environment.host !== hostname()) return loaded
  const ceilings = recordedCeilings(known(), environment.devices)
  return ceilings.length > 0 ? { session, environment: { ...environment, ceilings } } : loaded
}

/**
 * Sessions, newest first, in which every word of `search` occurs: in name, notes, tags, state, operations or devices.
 * Matched here and not in SQL, whose LIKE knows upper and lower case of ASCII letters only.
 */
export function findSessions(db: Database, { search, deleted }: { search: string; deleted: boolean }): SessionSummary[] {
  const rows = db.all(query.selectFrom('sessions').selectAll().where('deleted_at', deleted ? 'is not' : 'is', null).orderBy('created_at', 'desc').orderBy('key', 'desc'))
  const words = search.toLowerCase().split(/\s+/).filter(Boolean)
  return rows.map(summaryOf).filter((s) => {
    const text = [s.name, s.notes, s.state, ...s.tags, ...s.ops, ...s.devices].join('\n').toLowerCase()
    return words.every((word) => text.includes(word))
  })
}

/** The suite of each session that is of one, newest first. A sweep that cannot be read is of none. */
export function findSuiteSessions(db: Database): { id: string; suite: string }[] {
  const rows = db.all(
    query
      .selectFrom('sessions')
      .innerJoin('session_details', 'session_details.session', 'sessions.key')
      .select(['sessions.id', 'session_details.spec'])
      .where('sessions.deleted_at', 'is', null)
      .where('session_details.spec', 'like', '%"suite":"%')
      .orderBy('sessions.created_at', 'desc')
      .orderBy('sessions.key', 'desc'),
  )
  return rows.flatMap(({ id, spec }) => {
    const read = suiteOfSpec.safeParse(parsed(spec))
    return read.success ? [{ id, suite: read.data.suite }] : []
  })
}
const suiteOfSpec = z.object({ suite: z.string() })

/** Removes sessions deleted before `beforeMs` for good, with all that only they used. */
export function purge(db: Database, beforeMs: number): void {
  const gone = db.all(query.selectFrom('sessions').select('key').where('deleted_at', '<', beforeMs)).map((row) => row.key)
  for (const key of gone) {
    db.transaction(() => {
      const bodies = db.all(query.selectFrom('results').select('body').where('session', '=', key)).map((row) => row.body)
      db.run(query.deleteFrom('sessions').where('key', '=', key))
      const remove = db.prepare(query.deleteFrom('bodies').where('key', '=', 0).compile().sql)
      for (const body of bodies) remove.run(body)
    })
  }
}

/** The operations of which a session has results, in the order measured. */
export function measuredOps(db: Database, sessionId: string): string[] {
  const rows = db.all<{ op: string | null }>(
    query
      .selectFrom('results')
      .innerJoin('sessions', 'sessions.key', 'results.session')
      .innerJoin('cases', 'cases.key', 'results.case_key')
      .where('sessions.id', '=', sessionId)
      .select(sql<string | null>`case when json_valid(cases.json) then json_extract(cases.json, '$.op') end`.as('op'))
      .groupBy('op')
      .orderBy((eb) => eb.fn.min('results.position')),
  )
  return rows.flatMap(({ op }) => op ?? [])
}

/** Whether a result counts as failed: everything that was tried and gave no right measurement. */
export const isFailure = ({ status }: Result): boolean => status !== 'ok' && status !== 'skipped'

/** Which operations and devices a session holds, for the list and the search. Devices by name where the environment knows it. */
export class Contents {
  readonly #names: ReadonlyMap<string, string>
  readonly #ops: Set<string>
  readonly #devices: Set<string>

  constructor(environment: Environment, ops: readonly string[] = [], devices: readonly string[] = []) {
    this.#names = new Map(environment.devices.map((device) => [device.id, device.name]))
    this.#ops = new Set(ops)
    this.#devices = new Set(devices)
  }

  /** Returns whether the case brought anything new. */
  add(c: BenchmarkCase): boolean {
    const before = this.#ops.size + this.#devices.size
    this.#ops.add(c.op)
    this.#devices.add(this.#names.get(c.device) ?? c.device)
    return this.#ops.size + this.#devices.size > before
  }

  get ops(): string[] {
    return [...this.#ops]
  }

  get devices(): string[] {
    return [...this.#devices]
  }
}
