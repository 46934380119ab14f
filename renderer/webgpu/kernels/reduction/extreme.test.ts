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
  it('of several rows is found by as many workgroups as run at once, of many short ones by few threads each', () => {
    const groups = (dims: readonly number[]) => argmax(dims).map((one) => one.groups)
    expect([groups([129, 34_289, 1]), groups([3, 3_840_289, 1]), groups([2, 6361, 1]), groups([4000, 4097, 1])]).toEqual([[129 * 4], [3 * 176], [2 * 6], [4000]])
    expect([groups([29_429, 1025, 1]), groups([100, 1025, 1])]).toEqual([[Math.ceil(29_429 / 8)], [100]])
  })
  it('of columns of a few hundred elements is found by one workgroup', () => {
    expect([[1, 523, 5], [1, 2067, 73], [1, 100_000, 5]].map((dims) => argmax(dims)[0]!.groups)).toEqual([1, 3 * 45, 316])
  })
  it('over groups of single elements is that of columns', () => {
    expect([[65_537, 1, 1, 32], [1, 32, 65_537, 1]].map((dims) => argmax(dims)[0]!.wgsl)).toEqual([argmax([1, 32, 65_537, 1])[0]!.wgsl, argmax([1, 32, 65_537, 1])[0]!.wgsl])
  })
})
