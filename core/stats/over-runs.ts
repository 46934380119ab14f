import { MIN_INTERVAL_SAMPLES, type Interval } from './bootstrap'
import { median as medianOf } from './quantile'
import { serialInterval } from './serial'
import { mean, standardDeviation } from './spread'
import { studentQuantile } from './student'

/** Two runs have a t of 12.7: an interval of them says nothing. */
export const LEAST_RUNS = 3

/**
 * The typical time over runs, each given by its median: their median, with a 95 % interval whose unit is the run, so that
 * it holds what changes from one run to the next and no single run can know. From five runs on by order statistics, whatever
 * the distribution of runs (serial.ts); of three and four by Student's t on their logarithms. No interval for fewer; undefined
 * for none, or one that is not a positive number.
 */
export function overRuns(medians: ArrayLike<number>): { median: number; interval?: Interval } | undefined {
  const median = medianOf(medians)
  const logs = Array.from(medians, Math.log)
  if (median === undefined || !logs.every(Number.isFinite)) return undefined
  const interval = logs.length >= MIN_INTERVAL_SAMPLES ? serialInterval(medians) : studentInterval(logs)
  return interval ? { median, interval: { low: Math.min(median, interval.low), high: Math.max(median, interval.high) } } : { median }
}

function studentInterval(logs: readonly number[]): Interval | undefined {
  if (logs.length < LEAST_RUNS) return undefined
  const half = studentQuantile(0.025, logs.length - 1) * (standardDeviation(logs)! / Math.sqrt(logs.length))
  const centre = mean(logs)!
  return { low: Math.exp(centre - half), high: Math.exp(centre + half) }
}
