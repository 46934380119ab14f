import { quantileOfSorted } from './quantile'

/** Mean of finite samples. Sums differences from the first so that large offsets cost no digits. */
export function mean(samples: ArrayLike<number>): number | undefined {
  if (samples.length === 0) return undefined
  const first = samples[0]!
  let sum = 0
  for (let i = 0; i < samples.length; i++) sum += samples[i]! - first
  const result = first + sum / samples.length
  return Number.isFinite(result) ? result : undefined
}

/** Sample standard deviation (n - 1); needs two samples. */
export function standardDeviation(samples: ArrayLike<number>): number | undefined {
  const centre = mean(samples)
  if (centre === undefined || samples.length < 2) return undefined
  let sum = 0
  for (let i = 0; i < samples.length; i++) sum += (samples[i]! - centre) ** 2
  return Math.sqrt(sum / (samples.length - 1))
}

/** Median absolute deviation from the median, unscaled, of ascending samples. Times 1.4826 it estimates sigma of a normal. */
export function madOfSorted(ascending: Float64Array): number {
  const centre = quantileOfSorted(ascending, 0.5)
  return quantileOfSorted(ascending.map((value) => Math.abs(value - centre)).sort(), 0.5)
}
