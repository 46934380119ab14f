import type { Ceiling } from '../../session/types'
import { formatHalfWidth } from '../../units'

/**
 * Half the 95 % CI over the value, above which a ceiling bounds nothing: its interval is as wide as the value itself. Narrower ones are taken,
 * and mark what they bound as uncertain from 5 % on (MAX_ROOF_ERROR in roofline.ts).
 */
const MAX_USABLE_ERROR = 0.5

/** Half the 95 % CI of a ceiling over its value; undefined without a CI. */
export function ceilingError({ unit, value, low, high, result: { summary } }: Ceiling): number | undefined {
  if (low !== undefined && high !== undefined) return (high - low) / 2 / value
  const { medianNs, ciLowNs, ciHighNs } = summary ?? {}
  if (medianNs === undefined || ciLowNs === undefined || ciHighNs === undefined || !(ciLowNs > 0)) return undefined
  return unit === 's' ? (ciHighNs - ciLowNs) / 2 / medianNs : (medianNs / ciLowNs - medianNs / ciHighNs) / 2
}

/** Whether a ceiling is certain enough to bound results. */
export const isUsable = (ceiling: Ceiling): boolean => (ceilingError(ceiling) ?? 0) <= MAX_USABLE_ERROR

/** Why a ceiling bounds nothing, and what to do; undefined where it is usable. */
export const unusableText = (ceiling: Ceiling): string | undefined =>
  isUsable(ceiling) ? undefined : `Too uncertain to use: the 95 % CI is wider than ${formatHalfWidth(MAX_USABLE_ERROR)}. Measure the ceilings again on an idle machine.`
