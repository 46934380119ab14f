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
