import { describe, expect, it } from 'vitest'
import { placedSums, sharesOf } from './joined'

describe('sums of parts in their places', () => {
  it('are shared by threads where outputs are few, each of which has several parts', () => {
    expect([sharesOf(4590, 42), sharesOf(40_000, 42), sharesOf(100_000, 42), sharesOf(4590, 5), sharesOf(4590, 2)]).toEqual([16, 2, 1, 4, 1])
  })
  it('take one step', () => {
    const { groups, buffers } = placedSums({ dtype: 'f32' }, { groups: 1, rows: 17, columns: 270, outputs: 18 }, 42)
    expect([groups, buffers]).toEqual([287, [{ scratch: 0 }, 'output']])
  })
})
