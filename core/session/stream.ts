import type { Result } from '../result'
import type { SessionFile } from './types'

/** A session whose results come one at a time in their order, as often as they are gone through: memory need not hold them all. A SessionFile is one. */
export type SessionStream = Omit<SessionFile, 'results'> & { results: ResultStream }

/** Iterating twice gives the same results. */
export interface ResultStream extends Iterable<Result> {
  /** How many there are. */
  readonly length: number
}

/** The same with each result as `change` gives it when it is reached. */
export const mapResults = (results: ResultStream, change: (result: Result) => Result): ResultStream => ({
  length: results.length,
  *[Symbol.iterator]() {
    for (const result of results) yield change(result)
  },
})

/** All of it in memory. */
export const wholeSession = (session: SessionStream): SessionFile => ({ ...session, results: [...session.results] })
