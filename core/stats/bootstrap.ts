import { quantileOfSorted, sorted } from './quantile'
import { createRandom, gamma, type Random } from './random'

export interface Interval {
  low: number
  high: number
}

/** Below this many samples a percentile bootstrap of the median cannot reach 95 % coverage, so there is no interval. */
export const MIN_INTERVAL_SAMPLES = 5
const RESAMPLES = 1000
const SEED = 0x0b5c09e

/**
 * Medians of `count` resamples with replacement, at a cost that does not grow with the number of samples.
 *
 * A resample draws indices floor(n U) for n independent uniforms U, so its k-th smallest value is the one at
 * floor(n U(k)), U(k) being the k-th smallest uniform. Order statistics of uniforms are ratios of sums of exponentials
 * (Renyi 1953), that is of gammas, which are drawn directly. The result has exactly the distribution of the plain bootstrap.
 */
export function resampledMedians(ascending: Float64Array, count: number, random: Random): Float64Array {
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

/** 95 % percentile-bootstrap interval of the median of ascending samples (Efron 1979); undefined for fewer than five. */
export function medianIntervalOfSorted(ascending: Float64Array): Interval | undefined {
  if (ascending.length < MIN_INTERVAL_SAMPLES) return undefined
  return percentile95(resampledMedians(ascending, RESAMPLES, createRandom(SEED)))
}

/** 95 % percentile-bootstrap interval of the median; undefined for fewer than five samples or one that is not finite. */
export function medianInterval(samples: ArrayLike<number>): Interval | undefined {
  const ascending = sorted(samples)
  return ascending && medianIntervalOfSorted(ascending)
}

/**
 * median(samples) / median(baseline) with its 95 % bootstrap interval, both sides resampled independently.
 * Undefined when a side is empty, not finite, or has a median of zero; the interval is absent when a side is too short
 * or a resampled baseline is zero.
 */
export function medianRatio(samples: ArrayLike<number>, baseline: ArrayLike<number>): { ratio: number; interval?: Interval } | undefined {
  const top = sorted(samples)
  const bottom = sorted(baseline)
  if (!top || !bottom) return undefined
  const ratio = quantileOfSorted(top, 0.5) / quantileOfSorted(bottom, 0.5)
  if (!Number.isFinite(ratio) || ratio <= 0) return undefined
  if (top.length < MIN_INTERVAL_SAMPLES || bottom.length < MIN_INTERVAL_SAMPLES) return { ratio }
  const random = createRandom(SEED)
  const ratios = resampledMedians(top, RESAMPLES, random)
  const below = resampledMedians(bottom, RESAMPLES, random)
  for (let i = 0; i < ratios.length; i++) ratios[i]! /= below[i]!
  const interval = percentile95(ratios)
  return Number.isFinite(interval.low) && Number.isFinite(interval.high) ? { ratio, interval } : { ratio }
}
