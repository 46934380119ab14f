import { sql } from 'kysely'
import { detailsOf, type ResultDetails } from '@core/analysis/advice'
import { caseId, type BenchmarkCase } from '@core/case'
import { roundPasses, type RoundPasses } from '@core/measure/result/rounds'
import { measureSettingsSchema } from '@core/measure/settings'
import { STATUSES, type Result } from '@core/result'
import { emptyBlock, GRADES, ROW_NUMBERS, type RowBlock } from '@core/session/rows'
import type { ResultStream } from '@core/session/types'
import type { Took } from '@core/sweep/estimate'
import { numberReader, restore, store, fromBytes, parseStored, readable, type ResultBody } from './codec'
import { query, type Database } from '../database/database'
import { NotFoundError } from '../types'

const OK = STATUSES.indexOf('ok')
/** Rows read from the file in one go while iterating over all results: bounds memory to some tens of megabytes. */
const PAGE = 256
/** Results whose passes are kept, some 2 KB each. */
const ROUNDS_KEPT = 10_000

type RowTuple = [id: string, caseKey: number, status: number, grade: number, message: string | null, numbers: Uint8Array]

/** Results of sessions: writing, rows by column, whole results. */
export class Results {
  readonly #insertResult
  readonly #insertBody
  readonly #rounds = new Map<string, { numbers: Uint8Array; rounds: RoundPasses | undefined }>()

  constructor(
    private readonly db: Database,
    private readonly cases: Cases,
  ) {
    this.#insertResult = db.inserter('results', ['session', 'position', 'id', 'case_key', 'body', 'status', 'grade', 'message', 'numbers'])
    this.#insertBody = db.inserter('bodies', ['json', 'samples', 'clocks', 'probes'])
  }

  /** Writes one result; call inside a transaction. */
  insert(session: number, position: number, result: Result): void {
    const stored = store(result)
    const body = this.#insertBody([stored.json, stored.samples, stored.clocks, stored.probes])
    this.#insertResult([session, position, result.id, this.cases.keyOf(result.case), body, stored.status, stored.grade, stored.message, stored.numbers])
  }

  /** Rows `first .. first + count` of a session in the order measured; fewer at the end. */
  rows(session: number, first: number, count: number): RowBlock {
    const statement = this.db.prepare(
      query
        .selectFrom('results')
        .select(['id', 'case_key', 'status', 'grade', 'message', 'numbers'])
        .where('session', '=', 0).where('position', '>=', 0).where('position', '<', 0)
        .orderBy('position')
        .compile().sql,
    )
    statement.setReturnArrays(true)
    const tuples = statement.all(session, first, first + count) as unknown as RowTuple[]
    const block = emptyBlock(tuples.length, first)
    const setNumbers = numberReader(block.numbers)
    const caseAt = new Map<number, number>()
    for (let row = 0; row < tuples.length; row++) {
      const [id, caseKey, status, grade, message, numbers] = tuples[row]!
      let at = caseAt.get(caseKey)
      if (at === undefined) caseAt.set(caseKey, (at = caseAt.size))
      block.ids[row] = id
      block.caseOf[row] = at
      block.status[row] = status
      block.grade[row] = grade
      if (message !== null) block.messages[row] = message
      setNumbers(row, numbers)
    }
    block.cases = this.#casesOf(session, first, count, caseAt)
    this.#addReasons(session, block)
    this.#addRounds(session, block, tuples)
    if (tuples.some(([, , , , , numbers]) => numbers.length < ROW_NUMBERS.length * Float64Array.BYTES_PER_ELEMENT)) this.#addRuns(session, block)
    return block
  }

  /** Why the rows of grade C have it: it stands in their bodies alone, of which only these are read. */
  #addReasons(session: number, block: RowBlock): void {
    if (!block.grade.includes(GRADES.indexOf('C'))) return
    const found = this.db.all(
      query
        .selectFrom('results')
        .innerJoin('bodies', 'bodies.key', 'results.body')
        // A damaged body hides its reason, not the session.
        .select(['results.position as position', sql<string | null>`case when json_valid(bodies.json) then json_extract(bodies.json, '$.gradeReasons') end`.as('reasons')])
        .where('results.session', '=', session).where('results.position', '>=', block.first).where('results.position', '<', block.first + block.ids.length)
        .where('results.grade', '=', GRADES.indexOf('C')),
    )
    for (const { position, reasons } of found) if (reasons !== null) block.gradeReasons[position - block.first] = JSON.parse(reasons) as string[]
  }

  /** What the rows of interleaved rounds say, which are made of their samples: once, because rows are read for the table, for findings and by other windows. */
  #addRounds(session: number, block: RowBlock, tuples: readonly RowTuple[]): void {
    if (block.numbers.roundsGroup.every(Number.isNaN)) return
    const statement = this.db.prepare(query.selectFrom('results').innerJoin('bodies', 'bodies.key', 'results.body').select(['bodies.json', 'bodies.samples']).where('results.session', '=', 0).where('results.position', '=', 0).compile().sql)
    for (const [at, group] of block.numbers.roundsGroup.entries()) {
      if (Number.isNaN(group)) continue
      const [id, , , , , numbers] = tuples[at]!
      let known = this.#rounds.get(id)
      // The id of a result that was removed may come again in a file: with other samples its numbers are others.
      if (!known || Buffer.compare(known.numbers, numbers) !== 0) {
        known = { numbers, rounds: this.#readRounds(statement, session, block.first + at) }
        if (this.#rounds.size >= ROUNDS_KEPT) this.#rounds.clear()
        this.#rounds.set(id, known)
      }
      if (known.rounds) block.rounds[at] = known.rounds
    }
  }

  #readRounds(statement: ReturnType<Database['prepare']>, session: number, position: number): RoundPasses | undefined {
    const stored = statement.get(session, position) as { json: string; samples: Uint8Array } | undefined
    // A damaged body hides its rounds, not the session.
    const [body] = readable<ResultBody>(stored ? [stored] : [])
    return body && roundPasses({ ...body, samplesNs: fromBytes(stored!.samples) })
  }

  /** The repeat of rows that a version wrote which did not keep it beside the other numbers: of cases that come several times. */
  #addRuns(session: number, block: RowBlock): void {
    const found = this.db.all(
      query
        .selectFrom('results')
        .innerJoin('bodies', 'bodies.key', 'results.body')
        .select(['results.position as position', sql<number | null>`case when json_valid(bodies.json) then json_extract(bodies.json, '$.run') end`.as('run')])
        .where('results.session', '=', session).where('results.position', '>=', block.first).where('results.position', '<', block.first + block.ids.length)
        .where(({ exists, selectFrom }) => exists(selectFrom('results as other').select('other.position').where('other.session', '=', session).whereRef('other.case_key', '=', 'results.case_key').whereRef('other.position', '!=', 'results.position'))),
    )
    for (const { position, run } of found) if (run !== null) block.numbers.run[position - block.first] = run
  }

  /** The cases with these keys, each at its place. */
  #casesOf(session: number, first: number, count: number, places: ReadonlyMap<number, number>): BenchmarkCase[] {
    const found = this.db.all(
      query
        .selectFrom('cases')
        .select(['key', 'json'])
        .where('key', 'in', query.selectFrom('results').select('case_key').where('session', '=', session).where('position', '>=', first).where('position', '<', first + count)),
    )
    const cases = new Array<BenchmarkCase>(places.size)
    for (const { key, json } of found) {
      const at = places.get(key)
      if (at !== undefined) cases[at] = parseStored<BenchmarkCase>(json, 'A case of this session')
    }
    return cases
  }

  #whole() {
    return query
      .selectFrom('results')
      .innerJoin('bodies', 'bodies.key', 'results.body')
      .innerJoin('cases', 'cases.key', 'results.case_key')
      .select(['bodies.json as json', 'bodies.samples as samples', 'bodies.clocks as clocks', 'bodies.probes as probes', 'cases.json as caseJson'])
  }

  one(id: string): Result {
    const found = this.db.first(this.#whole().where('results.id', '=', id))
    if (!found) throw new NotFoundError(`There is no result “${id}” in the history.`)
    return restore(found)
  }

  /** What findings use of the valid results below grade A, a page at a time and without their samples. */
  *details(session: number): Iterable<ReadonlyMap<string, ResultDetails>> {
    const below = query
      .selectFrom('results')
      .innerJoin('bodies', 'bodies.key', 'results.body')
      .select(['results.id', 'results.position', 'bodies.json', sql<number>`length(bodies.samples)`.as('bytes')])
      .where('results.session', '=', session).where('results.status', '=', OK).where('results.grade', '!=', GRADES.indexOf('A'))
    for (let next = 0; ; ) {
      const page = this.db.all(below.where('results.position', '>=', next).orderBy('results.position').limit(PAGE))
      yield new Map(page.flatMap((row): [string, ResultDetails][] => {
        // A damaged body hides its details, not those of others.
        const [body] = readable<ResultBody>([row])
        return body ? [[row.id, detailsOf(body, row.bytes / Float64Array.BYTES_PER_ELEMENT)]] : []
      }))
      const last = page.at(-1)
      if (!last || page.length < PAGE) return
      next = last.position + 1
    }
  }

  /** All results of a session with their samples, in order, a page at a time. */
  *all(session: number): Iterable<Result> {
    for (let next = 0; ; ) {
      const page = this.db.all(this.#whole().select('results.position as position').where('results.session', '=', session).where('results.position', '>=', next).orderBy('results.position').limit(PAGE))
      for (const stored of page) yield restore(stored)
      const last = page.at(-1)
      if (!last || page.length < PAGE) return
      next = last.position + 1
    }
  }

  /** The results that a session has now, read anew each time they are gone through; throws where some of them are gone by then. */
  stream(session: number): ResultStream {
    const [counted] = this.db.all(query.selectFrom('results').select((eb) => eb.fn.countAll<number>().as('count')).where('session', '=', session))
    const length = counted?.count ?? 0
    const all = () => this.all(session)
    return {
      length,
      *[Symbol.iterator]() {
        let left = length
        if (left === 0) return
        for (const result of all()) {
          yield result
          if (--left === 0) return
        }
        throw new NotFoundError('The session was removed from the history while it was read.')
      },
    }
  }

  has(id: string): boolean {
    return this.db.first(query.selectFrom('results').select('session').where('id', '=', id)) !== undefined
  }
}

/** Distinct cases kept in memory; one sweep has far fewer. */
const MEMO = 200_000

/** Stores every distinct case once and gives its key. Distinct means the same JSON, so that a case comes back exactly. */
export class Cases {
  readonly #keys = new Map<string, number>()
  readonly #insert

  constructor(private readonly db: Database) {
    this.#insert = db.inserter('cases', ['identity', 'json'])
  }

  keyOf(c: BenchmarkCase): number {
    const json = JSON.stringify(c)
    const known = this.#keys.get(json)
    if (known !== undefined) return known
    const stored = this.db.first(query.selectFrom('cases').select('key').where('json', '=', json))
    const key = stored?.key ?? this.#insert([caseId(c), json])
    if (this.#keys.size >= MEMO) this.#keys.clear()
    this.#keys.set(json, key)
    return key
  }

  /** After a rollback, keys given since are not there. */
  forget(): void {
    this.#keys.clear()
  }
}

const WALL = ROW_NUMBERS.indexOf('wallMs')

/** What the last cases took on this host, newest first, of the last `most` results; those of sessions without settings, or that cannot be read, are left out. */
export function lastTook(db: Database, host: string, most: number): Took[] {
  const rows = db.all(
    query
      .selectFrom('results')
      .innerJoin('cases', 'cases.key', 'results.case_key')
      .innerJoin('session_details', 'session_details.session', 'results.session')
      .select(['results.session', 'results.numbers', 'cases.json', 'session_details.settings', 'session_details.environment'])
      .where('results.status', '=', OK)
      .where('session_details.settings', 'is not', null)
      .orderBy('results.session', 'desc')
      .orderBy('results.position', 'desc')
      .limit(most),
  )
  const sessions = new Map<number, { settings: Took['settings']; names: Map<string, string> } | undefined>()
  return rows.flatMap(({ session, numbers, json, settings, environment }) => {
    if (!sessions.has(session)) sessions.set(session, sessionOf(settings, environment, host))
    const own = sessions.get(session)
    const [c] = readable<BenchmarkCase>([{ json }])
    const wallMs = fromBytes(numbers)[WALL]
    const deviceName = c && own?.names.get(`${c.backend} ${c.device}`)
    return own && c && deviceName !== undefined && wallMs !== undefined && wallMs > 0 ? [{ case: c, deviceName, settings: own.settings, wallSeconds: wallMs / 1000 }] : []
  })
}

/** Undefined for a session of another machine: an imported one says nothing of this. */
function sessionOf(settingsJson: string | null, environmentJson: string, host: string) {
  const [settings] = readable<unknown>([{ json: settingsJson ?? 'null' }])
  const [environment] = readable<{ host?: string; devices?: readonly { backend: string; id: string; name: string }[] }>([{ json: environmentJson }])
  const parsed = measureSettingsSchema.safeParse(settings)
  return parsed.success && environment?.host === host ? { settings: parsed.data, names: new Map((environment?.devices ?? []).map(({ backend, id, name }) => [`${backend} ${id}`, name])) } : undefined
}
