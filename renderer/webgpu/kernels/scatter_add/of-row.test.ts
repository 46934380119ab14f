import { describe, expect, it } from 'vitest'
import { createRandom } from '@core/stats/random'
import kernel from './kernel'
import { planOfRow } from './of-row'

describe('sources that workgroups of rows look for', () => {
  it('are each met once, by threads that cover the row and lists that fit workgroup memory', () => {
    const random = createRandom(7)
    const upTo = (most: number) => Math.ceil(most ** random())
    for (let i = 0; i < 3000; i++) {
      const [rows, dim, indices] = [upTo(100_000), upTo(30_000), upTo(8192)]
      const plan = planOfRow(rows, dim, indices)
      if (!plan) continue
      const { each, rounds, vectors, blocks, wide, shares } = plan
      const name = `${rows} ${dim} ${indices}`
      expect(blocks * wide >= vectors && (blocks - 1) * wide < vectors && wide * shares <= 256 && shares >= 1, name).toBe(true)
      expect(each * rounds * 256 >= indices && each * (rounds - 1) * 256 < indices, name).toBe(true)
      expect(4 * each * 256 + 4 + (shares > 1 ? 4 * (dim / vectors) * shares * wide : 0), name).toBeLessThanOrEqual(16_384)
    }
  })
  it('are some for a few hundred rows, in one dispatch', () => {
    const steps = (dims: readonly number[], dtype: 'f32' | 'f16' = 'f32') => kernel.build({ dtype, dims, scalars: [] }).steps.map(({ groups }) => groups)
    expect([steps([513, 16, 4097]), steps([47, 5083, 4097])]).toEqual([[513], [47 * 20]])
    // Halves are added up in an order of their own.
    expect(steps([513, 16, 4097], 'f16')).toHaveLength(2)
  })
})
