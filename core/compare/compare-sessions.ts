import type { BenchmarkCase } from '../case'
import type { Row } from '../session/rows'
import type { Environment } from '../session/types'
import { environmentDifferences } from './environments'
import { compareJoined, type Joined } from './join'
import { byCase, type ResultOf } from './measured'
import { noiseFloorsOf } from './noise-floors'
import type { Comparison } from './types'
import { THRESHOLD } from './verdict'

/** One session as the comparison needs it. */
export interface ComparedSession {
  id: string
  name: string
  createdAt: string
  environment: Environment
  /** All results in the order measured, without samples. */
  rows: Iterable<Row>
}

/** Name of the device of a case in a session, as far as the session knows it. */
const deviceName = ({ environment }: ComparedSession, c: BenchmarkCase) => environment.devices.find((device) => device.backend === c.backend && device.id === c.device)?.name

/**
 * Compares sessions case by case with the first one. `resultOf` gives a result with its raw samples, from which each
 * ratio of medians gets its interval and verdict (join.ts, ratio.ts, judge.ts). Differences below `threshold` count as none.
 */
export function compareSessions(sessions: readonly ComparedSession[], resultOf: ResultOf, threshold = THRESHOLD): Comparison {
  const sides = sessions.map((session) => byCase(session.rows))
  const [baseline = new Map(), ...others] = sides
  const only = others.map((side, i) => [...side].filter(([id]) => !baseline.has(id)).map(([id, entry]): Joined => ({ id, entries: sides.map((_, at) => (at === i + 1 ? entry : undefined)) })))
  const joined: Joined[] = [...[...baseline.keys()].map((id) => ({ id, entries: sides.map((side) => side.get(id)) })), ...only.flat()]
  const { rows, overall, unmatched } = compareJoined(joined, {
    sides: sides.length,
    threshold,
    resultOf,
    comparableCycles: (side, c, base) => deviceName(sessions[side]!, c) === deviceName(sessions[0]!, base),
    word: 'session',
  })
  const used = new Set(rows.map((row) => `${row.case.backend}/${row.case.device}`))
  return {
    sessions: sessions.map(({ id, name, createdAt }) => ({ id, name, createdAt })),
    threshold,
    rows,
    unmatched: unmatched.map(({ side, ...rest }) => ({ sessionId: sessions[side]!.id, ...rest })),
    overall,
    noiseFloors: noiseFloorsOf(sessions.map(({ environment }) => environment), used),
    environmentDifferences: environmentDifferences(sessions, used),
  }
}
