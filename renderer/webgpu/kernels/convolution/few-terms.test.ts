import { describe, expect, it } from 'vitest'
import { createRandom } from '@core/stats/random'
import { KERNELS } from '../registry'
import { planFewTerms } from './few-terms'

describe('convolutions of short sums', () => {
  it('cover all filters and positions once, with weights that fit workgroup memory', () => {
    const random = createRandom(3)
    const upTo = (most: number) => Math.ceil(most ** random())
    for (let i = 0; i < 5000; i++) {
      const [groups, filters, positions, terms] = [upTo(64), upTo(1500), upTo(3_000_000), upTo(64)] as const
      const plan = planFewTerms(groups, filters, positions, terms)
      if (!plan) continue
      const { wide, high, across, down, beside, below } = plan
      const name = `${groups} ${filters} ${positions} ${terms}`
      expect(wide * high, name).toBe(256)
      expect(beside * wide * across >= positions && (beside - 1) * wide * across < positions, name).toBe(true)
      expect(below * high * down >= filters && (below - 1) * high * down < filters, name).toBe(true)
      expect(16 * high * Math.ceil(down / 4) * terms, name).toBeLessThanOrEqual(16_384)
    }
  })

  it('leave few threads without outputs', () => {
    expect(planFewTerms(11, 128, 3078, 18)).toEqual({ wide: 32, high: 8, across: 4, down: 8, beside: 25, below: 2 })
    expect(planFewTerms(1, 20, 400_000, 50)).toMatchObject({ wide: 64, high: 4, down: 5, below: 1 })
    // Fewer outputs of a thread where workgroups are few.
    expect(planFewTerms(1, 64, 5000, 27)).toMatchObject({ across: 2, down: 2 })
  })

  it('are those of up to 64 terms whose tiles would stand half empty, or write rows of no whole vectors', () => {
    const isTiled = (channels: number, filters: number, length: number) => KERNELS.get('conv1d')!.build({ dtype: 'f32', scalars: [], dims: [64, channels, filters, 1, 1, 1, 1, 1, 0, 1, 1, 1, 0, 1, length, 4, 0, length - 3] }).steps[0]!.wgsl.includes('tile_a')
    expect([4, 16, 17].map((channels) => isTiled(channels, 64, 4096))).toEqual([false, false, true])
    // Whole vectors: 16 of 16 terms, 36 of 48, and 9 of 16 filters.
    expect([isTiled(4, 64, 4099), isTiled(9, 64, 4099), isTiled(4, 9, 4099)]).toEqual([true, false, false])
    // Many terms for a few outputs of a thread.
    expect(planFewTerms(1, 64, 1000, 40)).toBeUndefined()
  })
})
