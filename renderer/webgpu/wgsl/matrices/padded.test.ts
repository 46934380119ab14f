import { describe, expect, it } from 'vitest'
import { KERNELS } from '../../kernels/registry'

const device = { subgroups: 32, threads: 1024, workgroupBytes: 49_152, matrices: [{ component: 'f16', result: 'f32', m: 16, n: 8, k: 16 }, { component: 'i8', result: 'i32', m: 16, n: 16, k: 32 }] } as const
const build = (op: string, dtype: 'f16' | 'i8', dims: number[]) => KERNELS.get(op)!.build({ dtype, dims, scalars: [], ...device })
/** The inputs that are copied, in order, and whether the product reads the copies. */
const padded = ({ steps }: ReturnType<typeof build>) => {
  const at = steps.findIndex(({ wgsl }) => wgsl.includes('subgroupMatrixMultiplyAccumulate'))
  const copies = steps.slice(0, at).map(({ buffers: [from, to] }) => ({ from, to }))
  const read = steps[at]!.buffers.slice(0, 2)
  return { inputs: copies.map(({ from }) => (from as { input: number }).input), areRead: copies.every(({ from, to }) => JSON.stringify(read[(from as { input: number }).input]) === JSON.stringify(to)) }
}

describe('operands of products by matrices', () => {
  it('are copied into whole vectors where rows are not, of products that read them often', () => {
    expect(padded(build('matmul', 'f16', [1, 4096, 4096, 4096, 0, 0]))).toEqual({ inputs: [], areRead: true })
    expect(padded(build('matmul', 'f16', [1, 4096, 4097, 4096, 0, 0]))).toEqual({ inputs: [1], areRead: true })
    expect(padded(build('matmul', 'f16', [1, 4097, 4096, 4096, 1, 1]))).toEqual({ inputs: [0], areRead: true })
    expect(padded(build('matmul', 'f16', [3, 2001, 2003, 2005, 0, 0]))).toEqual({ inputs: [0, 1], areRead: true })
    expect(padded(build('scaled_matmul', 'i8', [4096, 4096, 4100]))).toEqual({ inputs: [0, 1], areRead: true })
  })

  it('are read as they are where a product is small or has few rows', () => {
    expect(padded(build('matmul', 'f16', [1, 157, 155, 153, 0, 0])).inputs).toEqual([])
    expect(padded(build('matmul', 'f16', [1, 32, 8193, 8193, 0, 0])).inputs).toEqual([])
  })

  it('are read as they are where a copy would be larger than devices bind', () => {
    expect(padded(build('matmul', 'f16', [1, 4_000_000, 1000, 65, 0, 0])).inputs).toEqual([0])
    expect(padded(build('matmul', 'f16', [1, 8_000_000, 1000, 65, 0, 0])).inputs).toEqual([])
  })

  it('have scratch memory of their own, as much as all products need', () => {
    const { scratchBytes, steps } = build('matmul', 'f16', [2, 1500, 1501, 40_001, 0, 0])
    const scratch = steps.flatMap(({ buffers }) => buffers).flatMap((name) => (typeof name === 'object' && 'scratch' in name ? [name.scratch] : []))
    expect(new Set(scratch)).toEqual(new Set(scratchBytes.keys()))
    expect(scratchBytes.slice(-2)).toEqual([2 * 1500 * 40_064 * 2, 2 * 40_001 * 1504 * 2])
  })
})
