import type { Timing } from '@core/analysis/timing'
import type { BenchmarkCase } from '@core/case'
import type { RowSource } from '../../stores/rows/result-rows'

interface Taken {
  /** Rows that were looked through: they are only appended. */
  rows: number
  points: readonly ChartPoint[]
}

/** Points by row source: charts and the answer above them take the same. */
const made = new WeakMap<RowSource, Taken>()
const NOTHING: Taken = { rows: 0, points: [] }

/** The measured, correct rows of a source as chart points. Wrong and failed ones are never drawn as if they ranked. The same list until there are more rows. */
export function pointsOf(rows: RowSource): readonly ChartPoint[] {
  const before = made.get(rows) ?? NOTHING
  if (before.rows === rows.length && before !== NOTHING) return before.points
  const points = [...before.points]
  collect(rows, before.rows, rows.length, points)
  made.set(rows, { rows: rows.length, points })
  return points
}

/** How many rows of a source `pointsOf` has not looked through yet. */
export const rowsToTake = (rows: RowSource): number => rows.length - (made.get(rows) ?? NOTHING).rows

/** Rows of a step: a millisecond or two. */
const STEP_ROWS = 200

/** Makes `pointsOf` cheap, in short steps; rows that arrive meanwhile are taken in too. `each` is told every point. */
export function* pointsSteps(rows: RowSource, each: (point: ChartPoint) => void): Generator<void, void, void> {
  const points: ChartPoint[] = []
  for (let from = 0; from < rows.length; from += STEP_ROWS) {
    if (from > 0) yield
    const known = points.length
    collect(rows, from, Math.min(rows.length, from + STEP_ROWS), points)
    for (let i = known; i < points.length; i++) each(points[i]!)
  }
  made.set(rows, { rows: rows.length, points })
}

function collect(rows: RowSource, from: number, to: number, points: ChartPoint[]): void {
  const median = rows.column('medianNs')
  const low = rows.column('ciLowNs')
  const high = rows.column('ciHighNs')
  const mad = rows.column('madNs')
  const bytes = rows.column('bytes')
  const flops = rows.column('flops')
  const samples = rows.column('samples')
  const joules = rows.column('joulesPerCall')
  const lowJ = rows.column('energyLowJ')
  const highJ = rows.column('energyHighJ')
  const watts = rows.column('energyWatts')
  const callNs = rows.column('energyCallNs')
  const run = rows.column('run')
  for (let i = from; i < to; i++) {
    if (rows.status(i) !== 'ok' || !(median[i]! > 0)) continue
    const point: ChartPoint = { id: rows.id(i), case: rows.case(i), medianNs: median[i]!, bytes: bytes[i]!, flops: flops[i]!, samples: samples[i]! }
    if (low[i]! > 0) point.ciLowNs = low[i]!
    if (high[i]! > 0) point.ciHighNs = high[i]!
    if (mad[i]! >= 0) point.madNs = mad[i]!
    if (run[i]! >= 0) point.run = run[i]!
    const rounds = rows.rounds(i)
    if (rounds) point.rounds = rounds
    if (joules[i]! > 0) point.energy = { joules: joules[i]!, callNs: callNs[i]!, watts: watts[i]!, ...(lowJ[i]! > 0 ? { low: lowJ[i]!, high: highJ[i]! } : {}) }
    const grade = rows.grade(i)
    if (grade) point.grade = grade
    points.push(point)
  }
}

const kept = new WeakMap<object, Map<string, unknown>>()

/**
 * What `make` returned for this list and key the last time: a selection draws a chart anew while its points stay the
 * same list, and looking through 100,000 of them takes longer than a frame. The list must never be changed in place.
 */
export function remembered<T>(list: object, key: string, make: () => T): T {
  const own = kept.get(list) ?? new Map<string, unknown>()
  kept.set(list, own)
  if (!own.has(key)) own.set(key, make())
  return own.get(key) as T
}

/** What charts need of one measured result. Times in ns per call. */
export interface ChartPoint extends Timing {
  id: string
  case: BenchmarkCase
  run?: number
  /** Median absolute deviation of the samples. */
  madNs?: number
  bytes: number
  flops: number
  samples: number
  grade?: string
  /** Energy of a call in joules, with its 95 % CI, mean power and the time of a call meanwhile. */
  energy?: { joules: number; low?: number; high?: number; watts: number; callNs: number }
}
