import type { BenchmarkCase } from '../case'
import { onOneMachine } from '../fleet/machines'
import { environmentDifferences } from '../session/environment'
import type { Row } from '../session/rows'
import type { Environment, NoiseFloor } from '../session/types'
import { compareJoined, drain, type Joined, type Steps } from './join'
import { byCase, type Entry, type ResultOf } from './measured'
import { facetsOf, inSubset, THRESHOLD, type CaseFilter, type Thresholds, type Comparison } from './types'

/** One session as the comparison needs it. */
export interface ComparedSession {
  id: string
  name: string
  createdAt: string
  /** Present where it is an open file. */
  fileName?: string
  environment: Environment
  /** All results in the order measured, without samples. */
  rows: Iterable<Row>
}

/** What counts as a difference, and which cases are compared at all. */
export interface CompareOptions extends Thresholds {
  filter?: CaseFilter | undefined
}

/** Those cases of a side that are in the subset, by identity. */
export function subsetOf(side: ReadonlyMap<string, Entry>, filter: CaseFilter | undefined): Map<string, Entry> {
  const passes = inSubset(filter ?? {})
  return new Map([...side].filter(([, entry]) => passes(entry.case)))
}

/** Name of the device of a case in a session, as far as the session knows it. */
const deviceName = ({ environment }: ComparedSession, c: BenchmarkCase) => environment.devices.find((device) => device.backend === c.backend && device.id === c.device)?.name

/** compareSessionsSteps at once. */
export const compareSessions = (sessions: readonly ComparedSession[], resultOf: ResultOf, options: CompareOptions = {}): Comparison => drain(compareSessionsSteps(sessions, resultOf, options))

/**
 * Compares sessions case by case with the first one; one of a single remote machine as if it had been made there. `resultOf` gives a result with its raw samples, from which each
 * ratio of medians gets its interval and verdict (join.ts, ratio.ts, judge.ts). Differences below the threshold count as none.
 */
export function* compareSessionsSteps(given: readonly ComparedSession[], resultOf: ResultOf, { filter, ...thresholds }: CompareOptions = {}): Steps<Comparison> {
  const sessions = given.map((session) => onOneMachine(session))
  const whole: Map<string, Entry>[] = []
  for (const session of sessions) {
    whole.push(byCase(session.rows))
    yield { done: 0, total: 1 }
  }
  const facets = facetsOf(new Map(whole.flatMap((side) => [...side].map(([id, entry]) => [id, entry.case] as const))).values())
  const sides = whole.map((side) => subsetOf(side, filter))
  const [baseline = new Map<string, Entry>(), ...others] = sides
  const only = others.map((side, i) => [...side].filter(([id]) => !baseline.has(id)).map(([id, entry]): Joined => ({ id, entries: sides.map((_, at) => (at === i + 1 ? entry : undefined)) })))
  const joined: Joined[] = [...[...baseline.keys()].map((id) => ({ id, entries: sides.map((side) => side.get(id)) })), ...only.flat()]
  const { rows, overall, unmatched } = yield* compareJoined(joined, {
    sides: sides.length,
    thresholds,
    resultOf,
    comparableCycles: (side, c, base) => deviceName(sessions[side]!, c) === deviceName(sessions[0]!, base),
    word: 'session',
  })
  const used = new Set(rows.map((row) => `${row.case.backend}/${row.case.device}`))
  const versions = rows.length > 0 && rows.every(({ case: c, cells }) => cells.every((cell, side) => !cell || deviceName(sessions[side]!, c) === deviceName(sessions[0]!, c)))
  return {
    sessions: sessions.map(({ id, name, createdAt, fileName }) => ({ id, name, createdAt, ...(fileName === undefined ? {} : { fileName }) })),
    threshold: thresholds.threshold ?? THRESHOLD,
    ...(versions ? { versions } : {}),
    opThresholds: thresholds.byOp ?? {},
    facets,
    rows,
    unmatched: unmatched.map(({ side, ...rest }) => ({ sessionId: sessions[side]!.id, ...rest, ...(side === 0 ? { baseline: true } : {}) })),
    overall,
    noiseFloors: noiseFloorsOf(sessions.map(({ environment }) => environment), used),
    // Without a case in common there is no speedup that they may affect.
    environmentDifferences: rows.length > 0 ? environmentDifferences(sessions, used) : [],
  }
}

/** The newest noise floor known for each of the devices used (`backend/device`); devices with different names have their own. */
export function noiseFloorsOf(environments: readonly Environment[], used: ReadonlySet<string>): NoiseFloor[] {
  const newest = new Map<string, NoiseFloor>()
  for (const floor of environments.flatMap(({ noiseFloors = [] }) => noiseFloors)) {
    if (!used.has(`${floor.backend}/${floor.device}`)) continue
    const key = `${floor.backend}/${floor.device}/${floor.deviceName}`
    const known = newest.get(key)
    if (!known || known.measuredAt < floor.measuredAt) newest.set(key, floor)
  }
  return [...newest.values()]
}
