/** Samples in ascending order, as a copy; undefined when there is none or one is not a finite number. */
export function sorted(samples: ArrayLike<number>): Float64Array | undefined {
  if (samples.length === 0) return undefined
  const copy = Float64Array.from(samples)
  for (const value of copy) if (!Number.isFinite(value)) return undefined
  return copy.sort()
}

/** Type 7 quantile (Hyndman and Fan 1996; the default of R and NumPy) of ascending, finite, non-empty samples. */
export function quantileOfSorted(ascending: Float64Array, q: number): number {
  const at = (ascending.length - 1) * q
  const below = Math.floor(at)
  const low = ascending[below]!
  const high = ascending[Math.min(below + 1, ascending.length - 1)]!
  return low + (at - below) * (high - low)
}

/** Type 7 quantile; undefined for no samples or one that is not finite. */
export function quantile(samples: ArrayLike<number>, q: number): number | undefined {
  const ascending = sorted(samples)
  return ascending && quantileOfSorted(ascending, q)
}

/** Middle value, or the mean of the two middle values; undefined for no samples or one that is not finite. */
export const median = (samples: ArrayLike<number>): number | undefined => quantile(samples, 0.5)

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

/** Fewer samples than this have no quartiles worth a fence. */
const MIN_SAMPLES = 4

/**
 * Tukey's outliers of ascending samples: `mild` lies beyond 1.5 and up to 3 interquartile ranges outside the quartiles,
 * `severe` beyond 3 (Tukey 1977). `resolution` is the smallest difference the timer can show: an interquartile range
 * below it is taken as it, so that samples one tick apart are no outliers.
 */
export function tukeyOutliers(ascending: Float64Array, resolution = 0): { mild: number; severe: number } {
  if (ascending.length < MIN_SAMPLES) return { mild: 0, severe: 0 }
  const q1 = quantileOfSorted(ascending, 0.25)
  const q3 = quantileOfSorted(ascending, 0.75)
  const range = Math.max(q3 - q1, resolution)
  let mild = 0
  let severe = 0
  for (const value of ascending) {
    const beyond = Math.max(q1 - value, value - q3)
    if (beyond > 3 * range) severe++
    else if (beyond > 1.5 * range) mild++
  }
  return { mild, severe }
}

/** Geometric mean of positive finite numbers; undefined for none or when one is not. */
export function geometricMean(values: ArrayLike<number>): number | undefined {
  if (values.length === 0) return undefined
  let logs = 0
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!
    if (!(value > 0) || !Number.isFinite(value)) return undefined
    logs += Math.log(value)
  }
  return Math.exp(logs / values.length)
}

/** Smallest and largest value, without spreading a long list into a call. NaN is passed over; of no value Infinity and -Infinity. */
export function extent(values: Iterable<number>): [low: number, high: number] {
  let low = Infinity
  let high = -Infinity
  for (const value of values) {
    if (value < low) low = value
    if (value > high) high = value
  }
  return [low, high]
}
