import { medianDistribution } from './median-distribution'
import { quantileOfSorted, sorted } from './quantile'
import { createRandom, gamma, type Random } from './random'

export interface Interval {
  low: number
  high: number
}

/** The extremes of fewer samples hold the median in less than 93 % of trials, so there is no interval. */
export const MIN_INTERVAL_SAMPLES = 5
/** From here on the percentile bootstrap holds its 95 %; below it the order statistics are asked (median-distribution.ts). */
export const BOOTSTRAP_SAMPLES = 200
const RESAMPLES = 1000
const SEED = 0x0b5c09e

/**
 * `count` medians that the ascending samples allow, whose percentiles bound the median: those of resamples with
 * replacement, or for few samples draws from the distribution of the median by order statistics.
 */
export function resampledMedians(ascending: Float64Array, count: number, random: Random): Float64Array {
  if (ascending.length >= BOOTSTRAP_SAMPLES) return bootstrapMedians(ascending, count, random)
  const at = medianDistribution(ascending)
  return Float64Array.from({ length: count }, () => at(random()))
}

/**
 * Medians of `count` resamples with replacement, at a cost that does not grow with the number of samples.
 *
 * A resample draws indices floor(n U) for n independent uniforms U, so its k-th smallest value is the one at
 * floor(n U(k)), U(k) being the k-th smallest uniform. Order statistics of uniforms are ratios of sums of exponentials
 * (Renyi 1953), that is of gammas, which are drawn directly. The result has exactly the distribution of the plain bootstrap.
 */
export function bootstrapMedians(ascending: Float64Array, count: number, random: Random): Float64Array {
  const n = ascending.length
  const at = (u: number) => ascending[Math.min(n - 1, Math.floor(u * n))]!
  const half = n >> 1
  const medians = new Float64Array(count)
  for (let i = 0; i < count; i++) {
    if (n % 2 === 1) {
      const below = gamma(random, half + 1)
      medians[i] = at(below / (below + gamma(random, half + 1)))
    } else {
      const below = gamma(random, half)
      const between = -Math.log(random())
      const all = below + between + gamma(random, half)
      medians[i] = (at(below / all) + at((below + between) / all)) / 2
    }
  }
  return medians
}

function percentile95(values: Float64Array): Interval {
  values.sort()
  return { low: quantileOfSorted(values, 0.025), high: quantileOfSorted(values, 0.975) }
}

/**
 * 95 % interval of the median of ascending samples: percentile bootstrap (Efron 1979) from 200 samples on, interpolated
 * order statistics below (Hettmansperger and Sheather 1986); undefined for fewer than five.
 */
export function medianIntervalOfSorted(ascending: Float64Array): Interval | undefined {
  if (ascending.length < MIN_INTERVAL_SAMPLES) return undefined
  if (ascending.length >= BOOTSTRAP_SAMPLES) return percentile95(bootstrapMedians(ascending, RESAMPLES, createRandom(SEED)))
  const at = medianDistribution(ascending)
  return { low: at(0.025), high: at(0.975) }
}

/** 95 % interval of the median; undefined for fewer than five samples or one that is not finite. */
export function medianInterval(samples: ArrayLike<number>): Interval | undefined {
  const ascending = sorted(samples)
  return ascending && medianIntervalOfSorted(ascending)
}
