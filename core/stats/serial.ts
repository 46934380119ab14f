import type { Interval } from './bootstrap'
import { medianIntervalOfSorted } from './bootstrap'
import { quantileOfSorted, sorted, standardDeviation } from './descriptive'
import { studentQuantile } from './significance'

/**
 * Stretches that samples are cut into, many and few: many know more, few see what lasts longer. `chance` is the ratio of
 * variances that independent samples pass in about 2.5 % of trials (chi square over its degrees), `least` what they fall short of as rarely.
 */
const BATCHES = [
  { count: 16, chance: 1.83, least: 0.417 },
  { count: 8, chance: 2.29, least: 0.241 },
  { count: 5, chance: 2.79, least: 0.121 },
] as const
/** Samples in a stretch, at least. */
const MIN_STRETCH_SAMPLES = 2
/** Correlation of neighbours beyond this many standard errors speaks against independence; so many are added to what is found. */
const LAG_CHANCE = 1.3
const LAG_MARGIN = 0.5
/** A correlation nearer to 1 cannot be told from a walk. */
const MAX_CORRELATED = 0.98
const NORMAL_975 = 1.959964

/** How many times wider than for independent samples the median is to be believed, and the degrees of freedom of that. */
export interface SerialFactor {
  factor: number
  degrees: number
}

/** Student's t over the normal quantile: what few degrees of freedom add to the factor. */
export const serialStretch = ({ factor, degrees }: SerialFactor): number => (degrees === Infinity ? factor : (factor * studentQuantile(0.025, degrees)) / NORMAL_975)

/**
 * What samples in the order taken say about how much they depend on each other; undefined where nothing speaks against
 * independence. The error of a median is that of the mean of the signs of (sample - median) (Bahadur 1966), and independent
 * signs behave alike whatever the distribution, so both estimates look at signs only:
 * - batch means (Schmeiser 1982): sums over stretches differ more than chance allows;
 * - the correlation of neighbours, continued as a first-order process (a Gaussian one has correlated signs by
 *   2/pi asin(rho)). It speaks for few samples too, but takes what alternates for what wanders: it is held to what the
 *   stretches can still be explained by.
 */
export function serialFactor(samples: ArrayLike<number>, median: number): SerialFactor | undefined {
  const signs = Float64Array.from(samples, (value) => Math.sign(value - median))
  let found: SerialFactor | undefined
  let explained = 0
  for (const { count, chance, least } of BATCHES) {
    const ratio = batchRatio(signs, count)
    if (ratio === undefined) continue
    explained = Math.max(explained, ratio / (count === 16 ? least : 1))
    const candidate = { factor: Math.sqrt(ratio), degrees: count - 1 }
    if (ratio > chance && (!found || serialStretch(candidate) > serialStretch(found))) found = candidate
  }
  const neighbours = neighbourRatio(signs)
  if (neighbours === undefined) return found
  const factor = Math.sqrt(signs.length >= BATCHES[0].count * MIN_STRETCH_SAMPLES ? Math.min(neighbours, explained) : neighbours)
  return factor > 1 && (!found || factor > serialStretch(found)) ? { factor, degrees: Infinity } : found
}

/** Variance of the sums of stretches over that of independent signs; undefined for too few signs or none that is not zero. */
function batchRatio(signs: Float64Array, count: number): number | undefined {
  const size = Math.floor(signs.length / count)
  if (size < MIN_STRETCH_SAMPLES) return undefined
  let squares = 0
  const sums = Array.from({ length: count }, (_, batch) => {
    let sum = 0
    for (let i = batch * size; i < (batch + 1) * size; i++) {
      sum += signs[i]!
      squares += signs[i]! ** 2
    }
    return sum
  })
  return squares > 0 ? (standardDeviation(sums)! ** 2 * count) / squares : undefined
}

/** Long-run over plain variance of signs whose neighbours correlate as these do; undefined where chance explains it. */
function neighbourRatio(signs: Float64Array): number | undefined {
  const n = signs.length
  let squares = 0
  let products = 0
  for (let i = 0; i < n; i++) {
    squares += signs[i]! ** 2
    if (i > 0) products += signs[i]! * signs[i - 1]!
  }
  if (squares === 0) return undefined
  // The signs sum to zero, which lowers the correlation of neighbours by 1 / (n - 1).
  const correlation = (products / squares) * (n / (n - 1)) + 1 / (n - 1)
  const error = 1 / Math.sqrt(n)
  if (!(correlation > LAG_CHANCE * error)) return undefined
  const rho = Math.sin((Math.PI / 2) * Math.min(MAX_CORRELATED, correlation + LAG_MARGIN * error))
  let sum = 0
  for (let k = 1, power = rho; k < n && power > 1e-6; k++, power *= rho) sum += (1 - k / n) * (2 / Math.PI) * Math.asin(power)
  return 1 + 2 * sum
}

/** The median's interval, and how many times wider it is than for independent samples; `widened` is absent where it is not. */
export interface SerialInterval extends Interval {
  widened?: number
}

/**
 * 95 % CI of the median of samples in the order taken: medianIntervalOfSorted, stretched about the median in the
 * logarithm (times are positive) where samples depend on each other, at most to the ends of the samples: no order statistic lies
 * beyond them, and the stretch of a wide interval would be years. `ascending` are the same samples in order of size.
 */
export function serialIntervalOf(samples: ArrayLike<number>, ascending: Float64Array): SerialInterval | undefined {
  const interval = medianIntervalOfSorted(ascending)
  const median = quantileOfSorted(ascending, 0.5)
  if (!interval || !(interval.low > 0) || interval.low === interval.high) return interval
  const serial = serialFactor(samples, median)
  if (!serial) return interval
  const widened = serialStretch(serial)
  const stretched = (end: number) => Math.min(ascending.at(-1)!, Math.max(ascending[0]!, median * (end / median) ** widened))
  return { low: stretched(interval.low), high: stretched(interval.high), widened }
}

/** The same of samples that are not in order yet; undefined for fewer than five or one that is not finite. */
export function serialInterval(samples: ArrayLike<number>): SerialInterval | undefined {
  const ascending = sorted(samples)
  return ascending && serialIntervalOf(samples, ascending)
}
