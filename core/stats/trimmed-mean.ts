import { mean, standardDeviation } from './spread'
import { quantileOfSorted } from './quantile'
import { createRandom } from './random'
import { studentQuantile } from './student'

const TRIM = 0.2
const RESAMPLES = 1000
const NORMAL_975 = 1.959964

/** Values left out at each end of `count`. */
const trimmed = (count: number) => Math.floor(TRIM * count)

/** Mean of ascending values without the lowest and highest fifth: nearly as sharp as the mean, and deaf to single outliers. */
function trimmedMeanOfSorted(ascending: Float64Array): number {
  const cut = trimmed(ascending.length)
  return mean(ascending.subarray(cut, ascending.length - cut))!
}

/** The same of a resample in which each value comes so many times: already in order, so nothing is sorted. */
function repeatedTrimmedMean(ascending: Float64Array, times: Uint32Array): number {
  const n = ascending.length
  const cut = trimmed(n)
  let sum = 0
  let before = 0
  for (let i = 0; i < n; i++) {
    const after = before + times[i]!
    sum += Math.max(0, Math.min(after, n - cut) - Math.max(before, cut)) * ascending[i]!
    before = after
  }
  return sum / (n - 2 * cut)
}

/**
 * 20 % trimmed mean of a few independent values (at least one) with a 95 % bootstrap interval and its standard error;
 * both absent for one value. A bootstrap of n values is too narrow by sqrt((n-1)/n) and knows no more than a normal
 * distribution would, so distances from the estimate are stretched by the ratio to Student's t (Hesterberg 2015, "What
 * Teachers Should Know About the Bootstrap", section 4.2; degrees of freedom of a trimmed mean after Tukey and McLaughlin 1963).
 */
export function resampledTrimmedMean(values: ArrayLike<number>, seed: number): { estimate: number; low: number; high: number; error: number; degrees: number } | { estimate: number; low?: undefined; high?: undefined; error?: undefined; degrees?: undefined } {
  const ascending = Float64Array.from(values).sort()
  const n = ascending.length
  const estimate = trimmedMeanOfSorted(ascending)
  if (n < 2) return { estimate }
  const random = createRandom(seed)
  const times = new Uint32Array(n)
  const estimates = Float64Array.from({ length: RESAMPLES }, () => {
    times.fill(0)
    for (let i = 0; i < n; i++) times[Math.floor(random() * n)]!++
    return repeatedTrimmedMean(ascending, times)
  })
  const error = standardDeviation(estimates)! * Math.sqrt(n / (n - 1))
  const degrees = n - 2 * trimmed(n) - 1
  const stretch = (studentQuantile(0.025, degrees) / NORMAL_975) * Math.sqrt(n / (n - 1))
  estimates.sort()
  const away = (q: number) => estimate + (quantileOfSorted(estimates, q) - estimate) * stretch
  return { estimate, low: Math.min(estimate, away(0.025)), high: Math.max(estimate, away(0.975)), error, degrees }
}
