import { describe, expect, it } from 'vitest'
import kernel, { wholeColumns } from './kernel'

describe('transpose', () => {
  it('of a few rows or columns gives a thread several elements where they are many', () => {
    const plan = (rows: number, cols: number) => kernel.build({ dtype: 'f32', dims: [rows, cols], scalars: [] }).steps.map(({ groups }) => groups)
    // Pairs of an even number of rows; single elements of an odd one.
    expect([plan(2, 16_777_217), plan(3, 1_000_000), plan(4, 300_001)]).toEqual([[Math.ceil(16_777_217 / 1024)], [Math.ceil(3_000_000 / 1024)], [Math.ceil(300_001 / 256)]])
    expect([plan(1_000_001, 16), plan(600_001, 2)]).toEqual([[Math.ceil(1_000_001 / 256)], [Math.ceil(600_001 / 256)]])
    expect(plan(3, 1000)).toEqual([Math.ceil(3000 / 256)])
  })
  it('of some rows of no whole vectors gives a workgroup columns whole, as many as its memory holds', () => {
    expect([16, 17, 63, 64, 87, 127, 128].map((rows) => (rows > 16 ? wholeColumns(rows) : undefined))).toEqual([undefined, 64, 64, 32, 32, 32, undefined])
    for (let rows = 17; rows < 128; rows++) expect(4 * (rows | 1) * wholeColumns(rows)!).toBeLessThanOrEqual(16_384)
    const groups = (rows: number, cols: number) => kernel.build({ dtype: 'f32', dims: [rows, cols], scalars: [] }).steps.map((one) => one.groups)
    expect([groups(87, 100_001), groups(88, 100_000)]).toEqual([[Math.ceil(100_001 / 32)], [2 * Math.ceil(100_000 / 64)]])
  })
})
