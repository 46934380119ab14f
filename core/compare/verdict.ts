import type { Interval } from '../stats/bootstrap'
import type { Verdict } from './types'

/** Differences below this fraction are of no interest, and rarely reproducible. */
export const THRESHOLD = 0.01

/**
 * What an interval of the ratio (this / baseline) says. Wholly beyond the threshold: faster or slower. Wholly inside:
 * same. Anything else, no interval included, is ambiguous: more samples would tell.
 */
export function verdictOf(interval: Interval | undefined, threshold = THRESHOLD): Verdict {
  if (!interval) return 'ambiguous'
  if (interval.high < 1 - threshold) return 'faster'
  if (interval.low > 1 + threshold) return 'slower'
  if (interval.low >= 1 - threshold && interval.high <= 1 + threshold) return 'same'
  return 'ambiguous'
}
