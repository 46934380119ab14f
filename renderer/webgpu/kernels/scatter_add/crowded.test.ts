import { describe, expect, it } from 'vitest'
import { createRandom } from '@core/stats/random'
import { planCrowded } from './crowded'

describe('sums of many sources in workgroup memory', () => {
  it('cover all rows, columns and sources once, in cells that fit', () => {
    const random = createRandom(7)
    for (let i = 0; i < 5000; i++) {
      const [rows, dim, indices] = [1 + Math.floor(200_000 ** random()), 1 + Math.floor(2000 ** random()), 1 + Math.floor(40_000_000 ** random())]
      for (const dtype of ['f32', 'f16'] as const) {
        const plan = planCrowded(rows, dim, indices, dtype)
        if (!plan) continue
        const { columns, slabs, range, ranges, each, parts } = plan
        const covers = (all: number, size: number, count: number) => size * count >= all && size * (count - 1) < all
        expect([covers(rows, range, ranges), covers(dim, columns, slabs), covers(indices, each, parts)], `${rows} ${dim} ${indices}`).toEqual([true, true, true])
        expect(range * columns, `${rows} ${dim}`).toBeLessThanOrEqual(dtype === 'f32' ? 4096 : 2048)
        expect(ranges === 1 || slabs === 1, `${rows} ${dim}`).toBe(true)
      }
    }
  })
  it('take rows in ranges where those are many and short', () => {
    expect(planCrowded(116, 5, 118_749, 'f32')).toMatchObject({ ranges: 1, columns: 5 })
    expect(planCrowded(8192, 3, 33_000_000, 'f16')).toMatchObject({ ranges: 13, range: 631, columns: 3 })
    expect(planCrowded(8192, 3, 33_000_000, 'f32')).toMatchObject({ ranges: 7, range: 1171, columns: 3 })
    expect([planCrowded(8192, 64, 1_000_000, 'f32'), planCrowded(1_000_000, 1, 33_000_000, 'f32'), planCrowded(8192, 3, 100_000, 'f32')]).toEqual([undefined, undefined, undefined])
  })
})
