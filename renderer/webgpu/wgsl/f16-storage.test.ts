import { describe, expect, it } from 'vitest'
import { KERNELS } from '../kernels/registry'
import { programWithoutShaderF16, withoutShaderF16 } from './f16-storage'
import { step } from './header'

const f16 = (op: string, dims: number[], scalars: number[] = []) => KERNELS.get(op)!.build({ dtype: 'f16', dims, scalars })
const emulated = (op: string, dims: number[], scalars: number[] = []) => programWithoutShaderF16(f16(op, dims, scalars)).steps

describe('f16 kernels without shader-f16', () => {
  it('name no half type and no buffer of one', () => {
    for (const [op, dims] of [['add', [1001]], ['softmax', [3, 1001]], ['matmul', [1, 7, 9, 11, 0, 1]], ['transpose', [65, 67]], ['sum', [3, 1000, 1]]] as const) {
      for (const { wgsl } of emulated(op, [...dims])) {
        expect(wgsl, op).not.toMatch(/\bf16\b|<f16>/)
        expect(wgsl, op).toContain('unpack2x16float')
      }
    }
  })

  it('store a vector of four halves as the two words of one invocation', () => {
    const { wgsl } = emulated('add', [1001])[0]!
    expect(wgsl).toContain('out: array<vec2<u32>>')
    expect(wgsl).not.toContain('atomic')
  })

  it('compute both halves of a word in one invocation where each writes its own element, with half as many workgroups', () => {
    const dims = [6, 31, 33, 15, 16, 3, 2, 0]
    const made = emulated('max_pool2d', dims)[0]!
    expect(made.wgsl).not.toContain('atomic')
    expect(made.groups).toBe(Math.ceil(f16('max_pool2d', dims).steps[0]!.groups / 2))
  })

  it('change a half that shares its word with another invocation atomically', () => {
    const { wgsl } = emulated('softmax', [3, 1001])[0]!
    expect(wgsl).toContain('out: array<atomic<u32>>')
    expect(wgsl).toContain('x_in: array<u32>')
  })

  it('keep the steps of a program that have no halves as they are', () => {
    const plain = step('no halves', ['output'], [1], 1)
    expect(withoutShaderF16(plain)).toBe(plain)
    expect(emulated('sort', [1, 50_000, 1])[0]!.wgsl).toContain('counts: array<u32>')
  })
})
