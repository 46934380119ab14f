import { describe, expect, it } from 'vitest'
import kernel from './kernel'

describe('transpose', () => {
  it('of a few rows or columns gives a thread several elements where they are many', () => {
    const plan = (rows: number, cols: number) => kernel.build({ dtype: 'f32', dims: [rows, cols], scalars: [] }).steps.map(({ groups }) => groups)
    // Pairs of an even number of rows; single elements of an odd one.
    expect([plan(2, 16_777_217), plan(3, 1_000_000), plan(4, 300_001)]).toEqual([[Math.ceil(16_777_217 / 1024)], [Math.ceil(3_000_000 / 1024)], [Math.ceil(300_001 / 256)]])
    expect([plan(1_000_001, 16), plan(600_001, 2)]).toEqual([[Math.ceil(1_000_001 / 256)], [Math.ceil(600_001 / 256)]])
    expect(plan(3, 1000)).toEqual([Math.ceil(3000 / 256)])
  })
})
