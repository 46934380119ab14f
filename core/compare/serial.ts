import { median } from '../stats/quantile'
import { standardDeviation } from '../stats/spread'

/** Stretches of samples compared, and the least samples in one. */
const BATCHES = 16
const LEAST = 8
/** The ratio of variances that independent samples pass in about 2.5 % of trials (F of 15 and many degrees). */
const CHANCE = 1.83

/**
 * How much wider than for independent samples the median of these, in the order taken, is to be believed: their batches
 * differ more than chance allows where a clock wanders or a host is disturbed for a while. By batch medians (as batch
 * means, Schmeiser 1982). `variance` is that of ln(median) for independent samples. Undefined where nothing speaks
 * against independence, and for fewer than 128 samples.
 */
export function serialFactor(samples: ArrayLike<number>, variance: number): { factor: number; batches: number } | undefined {
  const size = Math.floor(samples.length / BATCHES)
  if (size < LEAST || !(variance > 0)) return undefined
  const inOrder = Float64Array.from(samples)
  const logs = Array.from({ length: BATCHES }, (_, i) => Math.log(median(inOrder.subarray(i * size, (i + 1) * size)) ?? NaN))
  const deviation = standardDeviation(logs)
  const ratio = deviation === undefined ? NaN : deviation ** 2 / BATCHES / variance
  return ratio > CHANCE ? { factor: Math.sqrt(ratio), batches: BATCHES } : undefined
}
