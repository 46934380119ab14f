import { geometricMean } from './descriptive'

/** A ratio with its 95 % interval, where it has one. */
export interface RatioWithInterval {
  ratio: number
  low?: number | undefined
  high?: number | undefined
}

/**
 * Geometric mean of independent ratios with its 95 % interval by the method of variance estimates recovery: on the log scale the
 * distances from each ratio to the ends of its interval add in quadrature (G. Y. Zou, A. Donner, "Construction of confidence limits
 * about effect measures", Statistics in Medicine 27, 2008). The interval covers the noise of these measurements only, not what
 * other cases would show, and not a drift that all of them share. It is absent where a ratio has none. Undefined without ratios.
 */
export function meanRatio(ratios: readonly RatioWithInterval[]): RatioWithInterval | undefined {
  const ratio = geometricMean(ratios.map((one) => one.ratio))
  if (ratio === undefined) return undefined
  let below = 0
  let above = 0
  for (const { ratio: own, low, high } of ratios) {
    if (low === undefined || high === undefined || !(low > 0) || !(high >= low)) return { ratio }
    below += Math.max(0, Math.log(own / low)) ** 2
    above += Math.max(0, Math.log(high / own)) ** 2
  }
  return { ratio, low: ratio * Math.exp(-Math.sqrt(below) / ratios.length), high: ratio * Math.exp(Math.sqrt(above) / ratios.length) }
}
