import { labelledMask } from '../../measure/result/labels'
import type { Result } from '../../result'
import { quantileOfSorted } from '../../stats/descriptive'

/** A ceiling of a processor is what one call in ten exceeds. The very best would be luck, the median the other programs. */
const QUANTILE = 0.1
/** With fewer samples that were not interrupted, all count. */
const MIN_SAMPLES = 8
const NORMAL_975 = 1.96
/** Where the ends of the decile's interval are further apart than this, hardly any call was left alone. */
const WIDE = 1.1

/** Time of a quick call in ns, with an interval: of the lower decile the 95 % CI by order statistics. */
export interface QuickCalls {
  ns: number
  lowNs: number
  highNs: number
}

/**
 * The lower decile of a result's samples, without those that carry a label and those of batches in which the system took a processor
 * away, as long as enough are left. Where that decile is uncertain, the second quickest sample stands for it: programs only ever add time, and one
 * alone may be an error of the clock; its interval goes from the quickest sample to the end of the decile's. Undefined for a result that has no samples with it.
 */
export function quickCalls({ samplesNs, labels = [], deviceStates = [] }: Pick<Result, 'samplesNs' | 'labels' | 'deviceStates'>): QuickCalls | undefined {
  const disturbed = labelledMask(labels, samplesNs.length)
  deviceStates.forEach(({ firstSample, state }, i) => {
    if ((state.involuntarySwitches ?? 0) > 0 || (state.stealMs ?? 0) > 0) disturbed.fill(1, firstSample, deviceStates[i + 1]?.firstSample ?? samplesNs.length)
  })
  const clean = samplesNs.filter((ns, i) => disturbed[i] === 0 && ns > 0)
  const ascending = Float64Array.from(clean.length >= MIN_SAMPLES ? clean : samplesNs.filter((ns) => ns > 0)).sort()
  const n = ascending.length
  if (n === 0) return undefined
  const [middle, half] = [n * QUANTILE, NORMAL_975 * Math.sqrt(n * QUANTILE * (1 - QUANTILE))]
  const at = (rank: number) => ascending[Math.min(n - 1, Math.max(0, rank))]!
  const [lowNs, highNs] = [at(Math.floor(middle - half)), at(Math.ceil(middle + half))]
  return highNs > lowNs * WIDE ? { ns: at(1), lowNs: at(0), highNs } : { ns: quantileOfSorted(ascending, QUANTILE), lowNs, highNs }
}
