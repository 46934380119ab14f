import type { Interval } from '../stats/bootstrap'
import { studentTail } from '../stats/student'
import type { RatioEstimate } from './ratio'
import type { Verdict } from './types'

/** Default significance threshold: smaller differences are rarely reproducible. A fraction. */
export const THRESHOLD = 0.01

/**
 * The verdict of an interval of the time ratio (this / baseline). Wholly beyond the threshold: faster or slower. Wholly
 * inside: same. Anything else, no interval included, is ambiguous and needs more samples.
 */
export function verdictOf(interval: Interval | undefined, threshold = THRESHOLD): Verdict {
  if (!interval) return 'ambiguous'
  if (interval.high < 1 - threshold) return 'faster'
  if (interval.low > 1 + threshold) return 'slower'
  if (interval.low >= 1 - threshold && interval.high <= 1 + threshold) return 'same'
  return 'ambiguous'
}

/**
 * Two-sided p of "no further from 1 than the threshold": how often chance alone would show a ratio this far beyond the
 * nearer edge of the band, from the bootstrap's standard error of ln(ratio) and Student's t (Efron and Tibshirani 1993,
 * chapter 16; the band as null hypothesis after Hodges and Lehmann 1954). 1 inside the band; below 0.05 about where
 * the 95 % interval is wholly beyond. Undefined where the error is not known.
 */
export function pValueOf({ ratio, logError, degrees }: RatioEstimate, threshold: number): number | undefined {
  if (logError === undefined || degrees === undefined) return undefined
  const beyond = ratio > 1 ? Math.log(ratio / (1 + threshold)) : threshold < 1 ? Math.log((1 - threshold) / ratio) : -1
  if (beyond <= 0) return 1
  return logError > 0 ? Math.min(1, 2 * studentTail(beyond / logError, degrees)) : 0
}
