import { describe, expect, it } from 'vitest'
import block from '@core/ops/transformer_block/op'
import kernel from '../kernels/transformer_block/kernel'
import type { Program } from '../kernels/types'
import { bindingTypes } from './header'
import { programWithoutShaderF16 } from './f16-storage'

const built = (dtype: 'f32' | 'f16' = 'f32', params = { batch: 2, seq: 8, dim: 64, heads: 4, mlpRatio: 4 }) => kernel.build({ dtype, dims: block.dims(block.params.parse(params)), scalars: [] })

/** Steps that read scratch space which no step before has written, or write what they read. */
const disordered = ({ steps }: Program) => {
  const written = new Set<string>()
  return steps.filter(({ wgsl, buffers }) => {
    const types = bindingTypes(wgsl)
    const of = (type: string) => buffers.filter((_, i) => types[i] === type).map((buffer) => JSON.stringify(buffer))
    const [reads, writes] = [of('read-only-storage'), of('storage')]
    const wrong = reads.some((name) => (name.includes('scratch') && !written.has(name)) || writes.includes(name))
    for (const name of writes) written.add(name)
    return wrong
  })
}

describe('a composite program', () => {
  it.each([['f32', built()], ['f16', built('f16')], ['f16 without the feature', programWithoutShaderF16(built('f16'))]] as const)('%s: each step reads what an earlier one has written, and never what it writes', (_, program) => {
    expect(disordered(program)).toEqual([])
    expect(program.steps.at(-1)!.buffers).toContain('output')
  })

  it('copies views by vectors only where heads are whole vectors', () => {
    const copies = (dim: number, heads: number) => built('f32', { batch: 1, seq: 4, dim, heads, mlpRatio: 1 }).steps.filter(({ wgsl }) => wgsl.includes('let line = i / dim(2u);'))
    expect(copies(64, 4)).toHaveLength(4)
    expect(copies(64, 4).every(({ wgsl }) => wgsl.includes('array<vec4<f32>>'))).toBe(true)
    expect(copies(6, 3).some(({ wgsl }) => wgsl.includes('vec4<f32>>'))).toBe(false)
  })
})
