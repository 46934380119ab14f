import { describe, expect, it } from 'vitest'
import { createRandom } from '@core/stats/random'
import { planByRow } from './by-row'

describe('sources that workgroups order by row', () => {
  it('are added up once, in sums that a workgroup has', () => {
    const random = createRandom(13)
    for (let i = 0; i < 5000; i++) {
      const [rows, dim, indices] = [1 + Math.floor(600 ** random()), 2 + Math.floor(3000 ** random()), 1 + Math.floor(40_000_000 ** random())]
      const plan = planByRow(rows, dim, indices)
      if (!plan) continue
      const { width, vectors, wide, slabs, shares, kept, each, parts } = plan
      const covers = (all: number, size: number, count: number) => size * count >= all && size * (count - 1) < all
      expect([vectors * width === dim, covers(vectors, wide, slabs), covers(indices, each, parts), covers(rows * wide * shares, 256, kept)], `${rows} ${dim} ${indices}`).toEqual([true, true, true, true])
      expect(kept, `${rows} ${dim}`).toBeLessThanOrEqual(4)
    }
  })

  it('are those of some rows of more than one element', () => {
    expect(planByRow(200, 16, 1_000_000)).toMatchObject({ width: 4, wide: 4, slabs: 1, shares: 1, kept: 4, each: 2048 })
    expect(planByRow(40, 2, 1_000_000)).toMatchObject({ width: 1, wide: 2, shares: 2 })
    expect([planByRow(513, 16, 1_000_000), planByRow(100, 1, 1_000_000)]).toEqual([undefined, undefined])
  })
})
