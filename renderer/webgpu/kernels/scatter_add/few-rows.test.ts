import { describe, expect, it } from 'vitest'
import { createRandom } from '@core/stats/random'
import { planFewRows } from './few-rows'

describe('sources for few rows', () => {
  it('are each read once, by whole workgroups, whose parts the last of them can join', () => {
    const random = createRandom(3)
    let planned = 0
    for (let i = 0; i < 3000; i++) {
      const [rows, dim, indices] = [40, 100_000, 10_000_000].map((most) => Math.ceil(most ** random())) as [number, number, number]
      const plan = planFewRows(rows, dim, indices)
      if (!plan) continue
      planned++
      const { width, vectors, wide, high, blocks, parts, joining } = plan
      const name = `${rows} rows of ${dim}, ${indices} sources`
      const each = Math.ceil(indices / parts)
      expect([wide * high, width * vectors], name).toEqual([256, dim])
      expect(blocks * wide >= vectors && (blocks - 1) * wide < vectors, name).toBe(true)
      expect(parts * each >= indices && (parts - 1) * each < indices, name).toBe(true)
      expect(joining === 1 || joining * rows * wide * width <= 256, name).toBe(true)
      expect((parts * rows * wide * width) / 256 <= 64 || parts === 1, name).toBe(true)
    }
    expect(planned).toBeGreaterThan(2000)
  })
  it('are taken in one part where columns are many, and leave rows or results that are many to other steps', () => {
    expect(planFewRows(3, 21_407, 367)).toMatchObject({ width: 1, wide: 32, high: 8, blocks: 669, parts: 1 })
    expect(planFewRows(7, 1, 11_543_795)).toMatchObject({ wide: 1, high: 256, parts: 1024 })
    expect(planFewRows(33, 9, 2_721_811)).toBeUndefined()
    expect(planFewRows(17, 691, 32_768)).toMatchObject({ width: 1, wide: 32 })
  })
})
