import { describe, expect, it } from 'vitest'
import { createRandom } from '@core/stats/random'
import { KERNELS } from '../registry'
import { directPlan } from './direct'

describe('convolutions without tiles', () => {
  it('cut sums that are much for few positions into parts, rather than read elements once for each filter', () => {
    // 2 x 88,873 channels of 64, 4 filters: sixteen positions beside each other read two sectors.
    expect(directPlan(128, 4, 88_873)).toMatchObject({ positions: 16, filters: 4, parts: 66, workgroups: 528 })
    expect(directPlan(40, 9, 79_108)).toMatchObject({ positions: 8, filters: 5, filterGroups: 2 })
    // Little: fewer filters of a thread.
    expect(directPlan(128, 4, 600)).toMatchObject({ positions: 2, filters: 2, parts: 1 })
    // Positions that fill a device read each element once without.
    expect(directPlan(100_000, 8, 900)).toMatchObject({ filters: 8, parts: 1 })
  })
  it('share short sums where threads that have one each would leave a device idle', () => {
    expect([[1298, 3, 49], [1298, 3, 31], [40_000, 1, 49]].map(([all, filters, terms]) => directPlan(all!, filters!, terms!).shares)).toEqual([8, 1, 1])
  })
  it('read weights as vectors where terms are whole ones', () => {
    const weights = (channels: number) => KERNELS.get('conv1d')!.build({ dtype: 'f32', dims: [2, channels, 9, 1, 1, 1, 1, 1, 0, 1, 1, 1, 0, 1, 400, 3, 1, 400], scalars: [] }).steps[0]!.wgsl
    expect([64, 65].map((channels) => weights(channels).includes('weight: array<vec4<f32>>'))).toEqual([true, false])
  })
  it('cover positions, filters and terms, and keep those waiting that join parts to few words', () => {
    const random = createRandom(11)
    for (let i = 0; i < 3000; i++) {
      const [all, filters, terms] = [1 + Math.floor(100_000 ** random()), 1 + Math.floor(40 ** random()), 1 + Math.floor(1_000_000 ** random())]
      const { positions, shares, filters: own, filterGroups, workgroups, parts } = directPlan(all, filters, terms)
      expect(positions * shares, `${all} ${filters} ${terms}`).toBe(256)
      expect(own * filterGroups, `${all} ${filters} ${terms}`).toBeGreaterThanOrEqual(filters)
      expect(workgroups, `${all} ${filters} ${terms}`).toBe(Math.ceil((all * filterGroups) / positions) * parts)
      if (parts > 1) expect(positions * own, `${all} ${filters} ${terms}`).toBeLessThanOrEqual(256)
    }
  })
})
