import type { BenchmarkCase } from '@core/case'
import type { Result } from '@core/result'
import { emptyBlock, type RowBlock } from '@core/session/rows'
import type { ResultStream } from '@core/session/stream'
import type { Cases } from './cases'
import { numberReader, restore, store } from './codec'
import { query, type Database } from './database'
import { parseStored } from './stored'
import { NotFoundError } from './types'

/** Rows read from the file in one go while iterating over all results: bounds memory to some tens of megabytes. */
const PAGE = 256

type RowTuple = [id: string, caseKey: number, status: number, grade: number, message: string | null, numbers: Uint8Array]

/** Results of sessions: writing, rows by column, whole results. */
export class Results {
  readonly #insertResult
  readonly #insertBody

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
    return block
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
    if (!found) throw new NotFoundError(`There is no result ${id} in the history.`)
    return restore(found)
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
