import { describe, expect, it } from 'vitest'
import { createRandom } from '@core/stats/random'
import { KERNELS } from '../registry'
import { planFewFilters } from './few-filters'

describe('convolutions of few filters', () => {
  it('cover all positions, with weights of whole channels that fit workgroup memory', () => {
    const random = createRandom(9)
    const upTo = (most: number) => Math.ceil(most ** random())
    for (let i = 0; i < 5000; i++) {
      const [groups, filters, positions, channels, taps] = [upTo(8), upTo(15), upTo(3_000_000), upTo(2000), upTo(343)] as const
      const plan = planFewFilters(groups, filters, positions, channels, taps)
      if (!plan) continue
      const name = `${groups} ${filters} ${positions} ${channels} ${taps}`
      expect(plan.positions * plan.shares, name).toBe(256)
      expect(plan.workgroups * plan.positions >= positions && (plan.workgroups - 1) * plan.positions < positions, name).toBe(true)
      expect(plan.chunk >= 1 && plan.chunk <= channels && plan.memory >= Math.ceil(filters / 4) * taps * plan.chunk, name).toBe(true)
      expect(16 * plan.memory, name).toBeLessThanOrEqual(16_384)
    }
  })
  it('share sums by as many threads as leave no multiprocessor idle', () => {
    expect(planFewFilters(1, 13, 7 * 7961, 199, 2)).toMatchObject({ positions: 128, shares: 2, by: 'channels', chunk: 96, workgroups: 436 })
    expect(planFewFilters(1, 9, 3200, 64, 9)).toMatchObject({ positions: 8, shares: 32, workgroups: 400 })
    expect(planFewFilters(1, 3, 100_000, 2, 49)).toMatchObject({ positions: 256, shares: 1 })
    // Few positions, filters beyond what a thread has, and short sums.
    expect([planFewFilters(1, 4, 1000, 200, 9), planFewFilters(1, 16, 100_000, 200, 9), planFewFilters(1, 4, 100_000, 8, 3)]).toEqual([undefined, undefined, undefined])
  })
  it('read each element of x once for all filters, in one step', () => {
    const { steps } = KERNELS.get('conv1d')!.build({ dtype: 'f32', dims: [7, 199, 13, 1, 2, 1, 1, 1, 0, 1, 1, 1, 0, 1, 15_923, 2, 0, 7961], scalars: [] })
    expect(steps.map(({ groups }) => groups)).toEqual([436])
    expect(steps[0]!.wgsl.split('f32(x[').length - 1).toBe(4)
  })
})
