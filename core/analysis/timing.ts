/** A median time and its interval, where there is one. ns per call. */
export interface Timing {
  medianNs: number
  /** 95 % CI of the median. */
  ciLowNs?: number
  ciHighNs?: number
}

/** A ratio of medians and, where both have one, its interval. */
export interface RatioOfMedians {
  ratio: number
  low?: number
  high?: number
}

const log = Math.log

/** ln(median) with the distances to the ends of its interval; undefined without a positive interval around the median. */
function logInterval({ medianNs, ciLowNs, ciHighNs }: Timing): { below: number; above: number } | undefined {
  if (ciLowNs === undefined || ciHighNs === undefined || !(ciLowNs > 0) || !(ciHighNs > 0)) return undefined
  return { below: Math.max(0, log(medianNs / ciLowNs)), above: Math.max(0, log(ciHighNs / medianNs)) }
}

/**
 * How many times as fast `side` is as `base`: base median / side median, above 1 is faster. Its interval comes from the
 * intervals of both medians, not from samples: on ln(ratio) by the method of variance estimates recovery, which adds the
 * distances to the ends in quadrature (G. Y. Zou, A. Donner, "Construction of confidence limits about effect measures",
 * Statistics in Medicine 27, 2008). Comparisons of sessions bootstrap samples instead (core/compare). Undefined without
 * two positive medians.
 */
export function speedupOf(side: Timing, base: Timing): RatioOfMedians | undefined {
  if (!(side.medianNs > 0) || !(base.medianNs > 0)) return undefined
  const ratio = base.medianNs / side.medianNs
  const [ofSide, ofBase] = [logInterval(side), logInterval(base)]
  if (!ofSide || !ofBase) return { ratio }
  return { ratio, low: ratio * Math.exp(-Math.hypot(ofBase.below, ofSide.above)), high: ratio * Math.exp(Math.hypot(ofBase.above, ofSide.below)) }
}
