import { joinAlong } from './axis'
import type { PairRatios } from './blocks'
import type { ComparedSession } from './compare-sessions'
import { compareJoined } from './join'
import { byCase, type ResultOf } from './measured'
import { noiseFloorsOf } from './noise-floors'
import type { CompareAxis, Comparison } from './types'
import { THRESHOLD } from './verdict'

/** A value of the axis was asked for that the session does not have. */
export class UnknownValueError extends Error {
  override name = 'UnknownValueError'
}

/**
 * Compares the cases of one session that differ in `axis` only (axis.ts), each value of the axis with the baseline value:
 * the one asked for, else the first met. `pairs` are interleaved measurements that add to the session; they replace the
 * ratio of their pair. Throws UnknownValueError with the values there are.
 */
export function compareWithin(session: ComparedSession, { axis, baseline }: { axis: CompareAxis; baseline?: string | undefined }, resultOf: ResultOf, { pairs, threshold = THRESHOLD }: { pairs?: PairRatios; threshold?: number } = {}): Comparison {
  const join = joinAlong(axis, byCase(session.rows).values(), session.environment.devices)
  if (baseline !== undefined && !join.values.includes(baseline)) {
    throw new UnknownValueError(`“${session.name}” has no ${axis} “${baseline}”; expected ${join.values.length > 0 ? `one of ${join.values.join(', ')}` : 'none: it has no case with one'}.`)
  }
  const values = baseline === undefined ? join.values : [baseline, ...join.values.filter((value) => value !== baseline)]
  const joined = join.groups.map(({ id, byValue }) => ({ id, entries: values.map((value) => byValue.get(value)) }))
  const { rows, overall, unmatched } = compareJoined(joined, {
    sides: values.length,
    threshold,
    resultOf,
    comparableCycles: (_side, c, base) => c.backend === base.backend && c.device === base.device,
    ...(pairs ? { pairs } : {}),
    word: 'side',
  })
  const used = new Set(joined.flatMap(({ entries }) => entries.flatMap((entry) => (entry ? [`${entry.case.backend}/${entry.case.device}`] : []))))
  const { id, name, createdAt } = session
  return {
    sessions: values.map((value) => ({ id, name, createdAt, value })),
    threshold,
    rows,
    unmatched: [...unmatched, ...join.outside.map((entry) => ({ case: entry.case, reason: `It has no ${axis}.` }))].map((left) => ({ sessionId: id, case: left.case, reason: left.reason })),
    overall,
    noiseFloors: noiseFloorsOf([session.environment], used),
    environmentDifferences: [],
  }
}
