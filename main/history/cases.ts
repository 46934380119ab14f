import { caseId, type BenchmarkCase } from '@core/case'
import { query, type Database } from './database'

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
