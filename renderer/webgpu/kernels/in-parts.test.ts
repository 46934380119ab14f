import { describe, expect, it } from 'vitest'
import { windowsOf } from '../gpu/tensors'
import { programInParts } from './in-parts'
import { KERNELS } from './registry'

const LIMIT = 2 ** 20

describe('windowsOf', () => {
  it('covers every element once, in parts that begin at multiples of 256 and fit', () => {
    for (const [elements, each] of [[1, 4], [262_144, 4], [262_145, 4], [1_000_003, 2], [5_000_000, 1]] as const) {
      const windows = windowsOf(elements, each, LIMIT)
      expect(windows.reduce((end, { first, count }) => (first === end ? end + count : NaN), 0)).toBe(elements)
      expect(windows.every(({ first, count }) => first % 256 === 0 && count * each <= LIMIT)).toBe(true)
    }
    expect(windowsOf(262_144, 4, LIMIT)).toHaveLength(1)
  })
})

describe('programInParts', () => {
  const tensors = (n: number, storage: 'f32' | 'f16' = 'f32') => Array.from({ length: 3 }, () => ({ elements: n, storage }))
  const program = (op: string, dims: number[], n = dims[0]!) => programInParts(KERNELS.get(op)!, { dtype: 'f32', dims, scalars: [] }, tensors(n), LIMIT)

  it('takes an element-wise operation in parts only where its tensors are too large', () => {
    expect(program('add', [1000]).steps.map(({ window }) => window)).toEqual([undefined])
    const { steps } = program('add', [600_000])
    expect(steps.map(({ window }) => window!.count).reduce((a, b) => a + b)).toBe(600_000)
    // The kernel counts vectors of four.
    expect(steps.map(({ dims }) => dims[0])).toEqual(steps.map(({ window }) => Math.ceil(window!.count / 4)))
  })

  it('leaves operations alone whose elements depend on others', () => {
    expect(program('add', [600_000, 600, 1]).steps.every(({ window }) => window === undefined)).toBe(true)
    expect(program('softmax', [1000, 600]).steps.every(({ window }) => window === undefined)).toBe(true)
  })
})
