import { quantileOfSorted } from './quantile'

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
