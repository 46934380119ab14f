import { INTERLEAVE, interleavedRatio, pairSettled, type Block, type InterleavedRatio, type Pair } from '@core/compare'
import { runOf } from '@core/compare/measured'
import type { MeasureSettings } from '@core/measure/settings'
import type { Bed } from './bed'

/** Blocks of a quad, by side: a b b a. */
const SIDES = ['a', 'b', 'b', 'a'] as const

/** The product's settings for a block with a shorter time, so that hundreds of pairs take minutes. */
export const shortBlocks = (seconds: number): MeasureSettings => ({ ...INTERLEAVE.settings, rule: { id: 'fixed-time', seconds }, maxWarmupSeconds: seconds / 2 })

/**
 * Measures a pair as the product does for "Resolve unclear cases": quads a b b a until the pair is settled at `threshold`, at
 * least and at most as many as core/compare says (or `maxQuads`).
 */
export async function measurePair(bed: Bed, pair: Pair, settings: MeasureSettings, threshold: number, maxQuads = INTERLEAVE.maxQuads): Promise<InterleavedRatio> {
  const blocks: Block[] = []
  for (let quad = 0; ; quad++) {
    for (const [place, side] of SIDES.entries()) {
      const { ns, clocksMhz } = runOf(await bed.measure(pair[side], settings, true))
      blocks.push({ pair: pair.id, quad, place, samplesNs: ns, ...(clocksMhz ? { clocksMhz } : {}) })
    }
    const ratio = quad + 1 >= INTERLEAVE.minQuads ? interleavedRatio(blocks) : undefined
    if (ratio && (pairSettled(ratio, threshold) || quad + 1 >= maxQuads)) return ratio
  }
}
