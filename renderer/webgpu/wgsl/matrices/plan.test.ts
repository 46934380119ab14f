import { describe, expect, it } from 'vitest'
import { createRandom } from '@core/stats/random'
import { planMatrices } from './plan'

describe('products by subgroup matrices', () => {
  const random = createRandom(14)
  const upTo = (most: number) => Math.ceil(most ** random())
  const shapes = Array.from({ length: 2000 }, () => [upTo(50), 31 + upTo(9000), 31 + upTo(9000), 31 + upTo(100_000)] as const)

  it('cover rows, columns and steps once, in parts of whole tiles', () => {
    for (const component of ['f16', 'i8'] as const) for (const [batch, m, n, k] of shapes) {
      const { tile, tilesM, tilesN, parts, chunk } = planMatrices(component, batch, m, n, k, () => true)!
      const covers = (all: number, size: number, count: number) => size * count >= all && size * (count - 1) < all
      expect([covers(m, tile.rows, tilesM), covers(n, tile.columns, tilesN), covers(k, chunk, parts), chunk % tile.depth, tile.rows % tile.high, tile.columns % tile.wide], `${component} ${batch} of ${m}x${n}x${k}`).toEqual([true, true, true, 0, 0, 0])
    }
  })

  it('take small tiles and parts of k where large ones would leave most of a device idle', () => {
    const plan = (batch: number, m: number, n: number, k: number) => {
      const { tile: { rows, columns }, parts } = planMatrices('f16', batch, m, n, k, () => true)!
      return { rows, columns, parts }
    }
    expect(plan(1, 4096, 4096, 4096)).toEqual({ rows: 128, columns: 128, parts: 1 })
    expect(plan(1, 1024, 1024, 1024)).toEqual({ rows: 64, columns: 64, parts: 1 })
    expect(plan(1, 64, 64, 65_536).parts).toBeGreaterThan(30)
    expect(plan(1, 33, 8000, 500).rows).toBeLessThanOrEqual(64)
  })

  it('are none where no tile fits a device', () => {
    expect(planMatrices('f16', 1, 512, 512, 512, () => false)).toBeUndefined()
  })
})
