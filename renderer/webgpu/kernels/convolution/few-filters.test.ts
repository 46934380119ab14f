import { describe, expect, it } from 'vitest'
import { createRandom } from '@core/stats/random'
import { KERNELS } from '../registry'
import { planFewFilters } from './few-filters'

describe('convolutions of few filters', () => {
  it('cover all positions, with weights of whole channels that fit workgroup memory', () => {
    const random = createRandom(9)
    const upTo = (most: number) => Math.ceil(most ** random())
    for (let i = 0; i < 5000; i++) {
      const [groups, filters, positions, channels, taps] = [upTo(8), upTo(24), upTo(3_000_000), upTo(2000), upTo(343)] as const
      const plan = planFewFilters(groups, filters, positions, channels, taps)
      if (!plan) continue
      const name = `${groups} ${filters} ${positions} ${channels} ${taps}`
      expect(plan.wide * plan.shares, name).toBe(256)
      expect(plan.workgroups * plan.wide * plan.across >= positions && (plan.workgroups - 1) * plan.wide * plan.across < positions, name).toBe(true)
      expect(plan.chunk >= 1 && plan.chunk <= channels && plan.memory >= Math.ceil(filters / 4) * taps * plan.chunk, name).toBe(true)
      expect(plan.parts * plan.perPart >= channels && (plan.parts - 1) * plan.perPart < channels, name).toBe(true)
      expect(16 * plan.memory, name).toBeLessThanOrEqual(16_384)
    }
  })
  it('have as many positions of a thread as leave no multiprocessor idle, and share long sums for that', () => {
    expect(planFewFilters(1, 13, 7 * 7961, 199, 2)).toMatchObject({ wide: 128, across: 2, shares: 2, by: 'channels', chunk: 96, workgroups: 218 })
    expect(planFewFilters(1, 3, 400_000, 2, 49)).toMatchObject({ wide: 256, across: 4, shares: 1, together: 2 })
    expect(planFewFilters(64, 1, 32 * 3136, 1, 9)).toMatchObject({ wide: 256, across: 4, shares: 1, together: 1 })
    // Few positions, filters beyond what a thread has, and short sums.
    expect([planFewFilters(1, 4, 3000, 200, 9), planFewFilters(1, 25, 100_000, 200, 9), planFewFilters(1, 4, 100_000, 3, 1), planFewFilters(1, 8, 100_000, 4, 4)]).toEqual([undefined, undefined, undefined, undefined])
    expect([planFewFilters(1, 6, 806_400, 3, 9), planFewFilters(1, 16, 32_000, 250, 2)]).toMatchObject([{ wide: 256, across: 2 }, { wide: 64, across: 2, shares: 4 }])
  })
  it('read each element of x once for all filters, in one step', () => {
    const { steps } = KERNELS.get('conv1d')!.build({ dtype: 'f32', dims: [7, 199, 13, 1, 2, 1, 1, 1, 0, 1, 1, 1, 0, 1, 15_923, 2, 0, 7961], scalars: [] })
    expect(steps.map(({ groups }) => groups)).toEqual([218])
    // Of one tap, up to six filters of many channels are a product of few rows with each image.
    const oneTap = (filters: number) => KERNELS.get('conv1d')!.build({ dtype: 'f32', dims: [30, 257, filters, 1, 1, 1, 1, 1, 0, 1, 1, 1, 0, 1, 4096, 1, 0, 4096], scalars: [] }).steps[0]!.wgsl.includes('own_5')
    expect([6, 7].map(oneTap)).toEqual([true, false])
    // Four channels at two positions.
    expect(steps[0]!.wgsl.split('f32(x[').length - 1).toBe(8)
  })
})
