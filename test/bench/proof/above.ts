import type { Result } from '@core/result'
import { roofline, roofsOf } from '@core/roofline/roofline'
import type { Ceiling } from '@core/session/types'

/** What two measurements of the same rate may differ by: beyond it a ceiling was measured too low, or a clock lies. */
export const SLACK = 0.02

/** A result as a share of what the measured ceilings allow. */
export interface Share {
  result: Result
  /** Time that the ceilings allow over the median. */
  share: number
  /** Whether no cache can have answered: not hot, or with a working set of eight times the last cache. */
  uncached: boolean
}

/** The results that have a ceiling, with their shares. */
export function sharesOf(results: readonly Result[], ceilings: readonly Ceiling[], lastCacheBytes: number): Share[] {
  return results.flatMap((result) => {
    const share = roofline({ bytes: result.bytes, flops: result.flops, medianNs: result.summary?.medianNs ?? 0 }, roofsOf(ceilings, result.case))?.efficiency
    return share === undefined ? [] : [{ result, share, uncached: result.case.mode !== 'hot' || result.bytes >= 8 * lastCacheBytes }]
  })
}

/** Of the shares where no cache can help, those above their ceiling by more than `SLACK`. */
export const aboveCeiling = (shares: readonly Share[]): Share[] => shares.filter(({ share, uncached }) => uncached && share > 1 + SLACK)
