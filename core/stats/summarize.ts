import type { Summary } from '../result'
import { MIN_INTERVAL_SAMPLES, type Interval } from './bootstrap'
import { tukeyOutliers, quantileOfSorted, sorted, madOfSorted, mean, standardDeviation, median as medianOf } from './descriptive'
import { serialIntervalOf, serialInterval } from './serial'
import { studentQuantile } from './significance'

/** Samples below which tail quantiles (p05, p95) would only repeat the extremes. */
const MIN_TAIL_SAMPLES = 5

/**
 * Statistics of samples in ns, in the order taken. Undefined when there is none or one is not a finite number; fields that need more
 * samples than there are stay absent. `resolutionNs` is the smallest difference the timer can show per call.
 */
export function summarize(samplesNs: ArrayLike<number>, resolutionNs = 0): Summary | undefined {
  const ascending = sorted(samplesNs)
  const meanNs = mean(samplesNs)
  if (!ascending || meanNs === undefined) return undefined
  const n = ascending.length
  const summary: Summary = {
    count: n,
    medianNs: quantileOfSorted(ascending, 0.5),
    minNs: ascending[0]!,
    maxNs: ascending[n - 1]!,
    meanNs,
    mildOutliers: 0,
    severeOutliers: 0,
  }
  if (n < 2) return summary
  summary.madNs = madOfSorted(ascending)
  summary.stddevNs = standardDeviation(samplesNs)
  summary.p25Ns = quantileOfSorted(ascending, 0.25)
  summary.p75Ns = quantileOfSorted(ascending, 0.75)
  if (n >= MIN_TAIL_SAMPLES) {
    summary.p05Ns = quantileOfSorted(ascending, 0.05)
    summary.p95Ns = quantileOfSorted(ascending, 0.95)
  }
  const interval = serialIntervalOf(samplesNs, ascending)
  if (interval) {
    summary.ciLowNs = interval.low
    summary.ciHighNs = interval.high
    if (interval.widened !== undefined) summary.ciWidened = interval.widened
  }
  const outliers = tukeyOutliers(ascending, resolutionNs)
  summary.mildOutliers = outliers.mild
  summary.severeOutliers = outliers.severe
  return summary
}

/** Half the width of the median's interval as a fraction of the median; undefined without interval or with a zero median. */
export function relativeInterval(interval: { low: number; high: number } | undefined, medianValue: number | undefined): number | undefined {
  return interval && medianValue ? (interval.high - interval.low) / 2 / medianValue : undefined
}

/** Two runs have a t of 12.7: their interval bounds a ratio that is far from 1, and says too little of a time. */
export const MIN_RUNS = 3

/**
 * The typical time over runs, each given by its median: their median, with a 95 % CI whose unit is the run, so that
 * it holds what changes from one run to the next and no single run can know. From five runs on by order statistics, whatever
 * the distribution of runs (serial.ts); of three and four by Student's t on their logarithms. No interval for fewer; undefined
 * for none, or one that is not a positive number.
 */
export function overRuns(medians: ArrayLike<number>): { median: number; interval?: Interval } | undefined {
  const median = medianOf(medians)
  const logs = Array.from(medians, Math.log)
  if (median === undefined || !logs.every(Number.isFinite)) return undefined
  const interval = logs.length >= MIN_INTERVAL_SAMPLES ? serialInterval(medians) : logs.length >= MIN_RUNS ? studentInterval(logs) : undefined
  return interval ? { median, interval: { low: Math.min(median, interval.low), high: Math.max(median, interval.high) } } : { median }
}

/** Student's 95 % CI of the mean of two logarithms or more, of what they are of. */
export function studentInterval(logs: readonly number[]): Interval {
  const half = studentQuantile(0.025, logs.length - 1) * (standardDeviation(logs)! / Math.sqrt(logs.length))
  const centre = mean(logs)!
  return { low: Math.exp(centre - half), high: Math.exp(centre + half) }
}
