import { joinAlong } from './axis'
import type { PairRatios } from './blocks'
import { subsetOf, type ComparedSession, type CompareOptions } from './compare-sessions'
import { compareJoined } from './join'
import { byCase, type ResultOf } from './measured'
import { noiseFloorsOf } from './noise-floors'
import { drain, type Steps } from './steps'
import { facetsOf } from './subset'
import type { CompareAxis, Comparison } from './types'
import { THRESHOLD } from './verdict'

/** A value of the axis was asked for that the session does not have. */
export class UnknownValueError extends Error {
  override name = 'UnknownValueError'
}

/** The side that others are compared with, by its value of the axis. */
export interface WithinRequest {
  axis: CompareAxis
  baseline?: string | undefined
}

export interface WithinOptions extends CompareOptions {
  /** Interleaved measurements that add to the session; they replace the ratio of their pair. */
  pairs?: PairRatios | undefined
}

/** compareWithinSteps at once. */
export const compareWithin = (session: ComparedSession, request: WithinRequest, resultOf: ResultOf, options: WithinOptions = {}): Comparison => drain(compareWithinSteps(session, request, resultOf, options))

/**
 * Compares the cases of one session that differ in `axis` only (axis.ts), each value of the axis with the baseline value:
 * the one asked for, else the first met. Throws UnknownValueError with the values there are.
 */
export function* compareWithinSteps(session: ComparedSession, { axis, baseline }: WithinRequest, resultOf: ResultOf, { pairs, filter, ...thresholds }: WithinOptions = {}): Steps<Comparison> {
  const whole = byCase(session.rows)
  const join = joinAlong(axis, subsetOf(whole, filter).values(), session.environment.devices)
  if (baseline !== undefined && !join.values.includes(baseline)) {
    throw new UnknownValueError(`“${session.name}” has no ${axis} “${baseline}”; expected ${join.values.length > 0 ? `one of ${join.values.join(', ')}` : 'none: it has no case with one'}.`)
  }
  const values = baseline === undefined ? join.values : [baseline, ...join.values.filter((value) => value !== baseline)]
  const joined = join.groups.map(({ id, byValue }) => ({ id, entries: values.map((value) => byValue.get(value)) }))
  const { rows, overall, unmatched } = yield* compareJoined(joined, {
    sides: values.length,
    thresholds,
    resultOf,
    comparableCycles: (_side, c, base) => c.backend === base.backend && c.device === base.device,
    ...(pairs ? { pairs } : {}),
    word: 'side',
  })
  const used = new Set(joined.flatMap(({ entries }) => entries.flatMap((entry) => (entry ? [`${entry.case.backend}/${entry.case.device}`] : []))))
  const { id, name, createdAt, fileName } = session
  return {
    sessions: values.map((value) => ({ id, name, createdAt, value, ...(fileName === undefined ? {} : { fileName }) })),
    threshold: thresholds.threshold ?? THRESHOLD,
    opThresholds: thresholds.byOp ?? {},
    facets: facetsOf([...whole.values()].map((entry) => entry.case)),
    rows,
    unmatched: [
      ...unmatched.map(({ side, ...rest }) => ({ sessionId: id, ...rest, ...(side === 0 ? { baseline: true } : {}) })),
      ...join.outside.map((entry) => ({ sessionId: id, case: entry.case, reason: `It has no ${axis}.` })),
    ],
    overall,
    noiseFloors: noiseFloorsOf([session.environment], used),
    environmentDifferences: [],
  }
}
