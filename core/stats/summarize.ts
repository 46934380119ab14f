import type { Summary } from '../result'
import { tukeyOutliers } from './outliers'
import { quantileOfSorted, sorted } from './quantile'
import { serialIntervalOf } from './serial'
import { madOfSorted, mean, standardDeviation } from './spread'

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
