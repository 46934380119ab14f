import { describe, expect, it } from 'vitest'
import { KERNELS } from '../registry'

const argmax = (dims: readonly number[]) => KERNELS.get('argmax')!.build({ dtype: 'f32', dims, scalars: [] }).steps

describe('the place of an extreme', () => {
  it('is found by vectors in a single row, by one workgroup where it is short', () => {
    expect([8192, 8193, 260_001, 3_900_003].map((reduce) => argmax([1, reduce, 1]).map(({ groups }) => groups))).toEqual([[1], [8], [253], [952]])
  })
  it('may be in the last vector of a single row, which is not whole', () => {
    const last = (dims: readonly number[]) => argmax(dims)[0]!.wgsl.match(/index = i32\(4u \* last \+ \du\)/g)?.length ?? 0
    expect([[1, 8193, 1], [1, 8195, 1], [1, 8192, 1], [2, 8192, 1], [2, 8193, 1]].map(last)).toEqual([1, 3, 0, 0, 0])
  })
})
