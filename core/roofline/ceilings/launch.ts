import type { Ceiling } from '../../session/types'
import { launchKind } from './kinds'

/** A launch that takes this share of a copy tells more about the launch than about the cache. */
export const NOTABLE_LAUNCH = 0.2

/**
 * Share of a ceiling's call that launching takes, by the launch measured on the same device in the same mode: small
 * copies are never faster than that, whatever the cache could do. At most 1; undefined where no launch was measured.
 */
export function launchShare(ceiling: Ceiling, ceilings: readonly Ceiling[]): number | undefined {
  const kind = launchKind(ceiling.result.case.mode)
  const launch = ceilings.find((c) => c.kind === kind && c.backend === ceiling.backend && c.device === ceiling.device && c.deviceName === ceiling.deviceName)
  const medianNs = ceiling.result.summary?.medianNs
  return launch && medianNs ? Math.min(1, (launch.value * 1e9) / medianNs) : undefined
}
