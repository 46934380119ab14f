import { sizeOf, workOf } from '@core/analysis/size'
import type { Timing } from '@core/analysis/timing'
import type { BenchmarkCase } from '@core/case'
import type { RowSource } from '../../stores/rows/result-rows'
import { describe } from './series'

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
  const points = [...before.points, ...collect(rows, before.rows, rows.length)]
  made.set(rows, { rows: rows.length, points })
  return points
}

/** Rows that are taken in at a time, which is about 10 ms of work. */
const SLICE_ROWS = 2000
const nextTask = () => new Promise<void>((resolve) => setTimeout(resolve))

/**
 * Makes `pointsOf` and what charts ask of every case cheap: takes in the rows of a large session by slices, between which the page answers
 * input. Resolves at once where there are few to take in.
 */
export async function takePoints(rows: RowSource, pause: () => Promise<void> = nextTask): Promise<void> {
  const before = made.get(rows) ?? NOTHING
  if (rows.length - before.rows <= SLICE_ROWS) return
  let under = taking.get(rows)
  if (!under) taking.set(rows, (under = inSlices(rows, before, pause).finally(() => taking.delete(rows))))
  await under
}

/** What is being taken in: charts and answer ask at the same time. */
const taking = new WeakMap<RowSource, Promise<void>>()

async function inSlices(rows: RowSource, before: Taken, pause: () => Promise<void>): Promise<void> {
  const points = [...before.points]
  let from = before.rows
  while (from < rows.length) {
    const to = Math.min(rows.length, from + SLICE_ROWS)
    for (const point of collect(rows, from, to)) {
      points.push(point)
      // Kept for each case by those who find them.
      void [describe(point.case), sizeOf(point.case), workOf(point.case)]
    }
    from = to
    await pause()
  }
  if ((made.get(rows)?.rows ?? 0) < from) made.set(rows, { rows: from, points })
}

function collect(rows: RowSource, from: number, to: number): ChartPoint[] {
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
  const points: ChartPoint[] = []
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
  return points
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
