import { describe, expect, it } from 'vitest'
import { KERNELS } from '../kernels/registry'
import { bindingTypes } from './header'
import { withConstants } from './constants'

const built = (op: string, dims: readonly number[], scalars: readonly number[] = []) => withConstants(KERNELS.get(op)!.build({ dtype: 'f32', dims, scalars })).steps[0]!

describe('withConstants', () => {
  it('names the numbers of a short program in its text, which reads no uniform then', () => {
    const { wgsl } = built('scale', [1000], [0.5])
    expect(wgsl).toContain('fn dim_0() -> u32 { return 250u; }')
    expect(wgsl).toContain('fn scalar_0() -> f32 { return bitcast<f32>(1056964608u); }')
    expect(wgsl).not.toMatch(/\b(dim|scalar)\(\d/)
    expect(wgsl).toContain('return id.x;')
    expect(bindingTypes(wgsl)).toEqual(['read-only-storage', 'storage', 'uniform'])
  })

  it('keeps long programs, and numbers that change between calls or must not be known to the compiler', () => {
    expect(built('scale', [2 ** 24], [0.5]).wgsl).toContain('scalar(0u)')
    const dropout = built('dropout', [1000], [0.5]).wgsl
    expect(dropout).toContain('dim(1u)')
    expect(dropout).toContain('dim(2)')
    expect(built('spin', [32, 1000]).wgsl).toContain('iterations = dim(1);')
  })
})
