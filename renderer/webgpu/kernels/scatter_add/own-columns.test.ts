import { describe, expect, it } from 'vitest'
import { createRandom } from '@core/stats/random'
import { KERNELS } from '../registry'
import { planOwnColumns } from './own-columns'

describe('sums of a few dozen rows', () => {
  it('cover all columns and sources once, in words that fit', () => {
    const random = createRandom(9)
    for (let i = 0; i < 3000; i++) {
      const [rows, dim, indices] = [200, 5000, 10_000_000].map((most) => Math.ceil(most ** random())) as [number, number, number]
      const plan = planOwnColumns(rows, dim, indices)
      const name = `${rows} rows of ${dim}, ${indices} sources`
      expect(plan === undefined || (rows <= 64 && dim >= 64), name).toBe(true)
      if (!plan) continue
      const { columns, copies, threads, slabs, each, parts } = plan
      const covers = (all: number, size: number, count: number) => size * count >= all && size * (count - 1) < all
      expect([covers(dim, columns, slabs), covers(indices, each, parts), threads % 32], name).toEqual([true, true, 0])
      expect([rows * threads <= 4096, columns * copies <= threads, 2 * columns * copies >= threads, threads <= 256], name).toEqual([true, true, true, true])
    }
  })
  it('belong to a thread each where sources are many for lists', () => {
    expect(planOwnColumns(64, 100, 100_000)).toMatchObject({ columns: 50, copies: 1, threads: 64, slabs: 2, parts: 390 })
    expect([planOwnColumns(100, 100, 1_000_000), planOwnColumns(40, 33, 1_000_000)]).toEqual([undefined, undefined])
    const groups = (rows: number, dim: number, indices: number) => KERNELS.get('scatter_add')!.build({ dtype: 'f16', dims: [rows, dim, indices], scalars: [] }).steps[0]!.groups
    expect([groups(64, 100, 100_000), groups(33, 64, 300_000)]).toEqual([780, 1053])
  })
})
