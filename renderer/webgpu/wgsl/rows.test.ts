import { describe, expect, it } from 'vitest'
import { KERNELS } from '../kernels/registry'
import { THREADS } from './header'
import { planRows, reduction } from './rows'

const add = (a: string, b: string) => `${a} + ${b}`
const shuffles = (wgsl: string) => [...wgsl.matchAll(/subgroupShuffleXor\(\w+, (\d+)u\)/g)].map(([, stride]) => Number(stride))
const barriers = (wgsl: string) => wgsl.match(/workgroupBarrier/g)?.length ?? 0

describe('reduction', () => {
  it('gives a short row to part of a subgroup, without a barrier', () => {
    const wgsl = reduction('sum', 16, add, 32)
    expect(shuffles(wgsl)).toEqual([1, 2, 4, 8])
    expect(barriers(wgsl)).toBe(0)
  })

  it('joins the subgroups of a longer row between two barriers', () => {
    const wgsl = reduction('sum', 256, add, 32)
    expect(shuffles(wgsl)).toEqual([1, 2, 4, 8, 16])
    expect(barriers(wgsl)).toBe(2)
    expect(wgsl.match(/exchange\[first \+ \d+u\]/g)).toHaveLength(7)
  })

  it('uses workgroup memory alone without subgroups, and where they are too small to help', () => {
    for (const wgsl of [reduction('sum', 256, add), reduction('sum', 256, add, 4)]) {
      expect(shuffles(wgsl)).toEqual([])
      expect(barriers(wgsl)).toBe(5)
    }
  })
})

describe('kernels that combine threads', () => {
  const wgsl = (op: string, dims: number[], subgroups?: number) => KERNELS.get(op)!.build({ dtype: 'f32', dims, scalars: [1e-5], subgroups }).steps[0]!.wgsl

  it.each([['sum', [1, 4096, 1]], ['softmax', [64, 128]], ['layer_norm', [64, 4096]], ['argmax', [8, 4096, 1]], ['cross_entropy', [64, 1000]]] as const)('%s uses subgroups where the device has them', (op, dims) => {
    expect(wgsl(op, [...dims], 32)).toMatch(/^enable subgroups;/)
    expect(shuffles(wgsl(op, [...dims], 32))).not.toEqual([])
    expect(wgsl(op, [...dims])).not.toContain('subgroup')
  })

  it('argmax gives a short row a thread for each vector, and four vectors to a thread where rows fill the device', () => {
    const short = (rows: number) => KERNELS.get('argmax')!.build({ dtype: 'f32', dims: [rows, 64, 1], scalars: [], subgroups: 32 }).steps[0]!
    expect([1000, 100_000].map((rows) => short(rows).groups)).toEqual([Math.ceil(1000 / 16), Math.ceil(100_000 / 64)])
    expect(barriers(short(1000).wgsl)).toBe(0)
    expect([1000, 100_000].map((rows) => shuffles(short(rows).wgsl))).toEqual([[1, 1, 2, 2, 4, 4, 8, 8], [1, 1, 2, 2]])
  })

  it('leaves columns, whose threads are not neighbours, to workgroup memory', () => {
    expect(wgsl('argmax', [1, 4096, 64], 32)).not.toContain('subgroup')
  })
})

describe('planRows', () => {
  it('gives short rows few threads and keeps rows in registers while they fit', () => {
    expect(planRows(1000, 4)).toMatchObject({ lanes: 1, rowsPerGroup: THREADS, kept: 1 })
    expect(planRows(1000, 4096)).toMatchObject({ width: 4, lanes: THREADS, rowsPerGroup: 1, kept: 4 })
    expect(planRows(4, 200_000).kept).toBeUndefined()
    // Neighbours write whole sectors together.
    expect([8, 12, 16, 20].map((length) => planRows(500_000, length, { written: true }).lanes)).toEqual([2, 4, 4, 2])
    expect(planRows(500_000, 8, { singles: true }).lanes).toBe(1)
  })
  it('gives few rows, and rows that fit the registers only so, a larger workgroup where the device has one', () => {
    const plan = (rows: number, length: number, tensors = 1) => planRows(rows, length, { threads: 1024, tensors })
    expect(plan(9, 16383)).toMatchObject({ lanes: 1024, threads: 1024, kept: 16, groups: 9 })
    expect(plan(40, 2049)).toMatchObject({ lanes: 1024, kept: 3 })
    expect(plan(3, 512)).toMatchObject({ lanes: 128, threads: 256, kept: 1 })
    expect(plan(4096, 1023)).toMatchObject({ lanes: 256, kept: 4 })
    // Threads take more elements of many rows that are no whole vectors where they may, and workgroups of short rows are small.
    expect([[4096, 1023], [131_073, 435], [900_001, 33], [400_001, 65], [40, 435]].map(([rows, length]) => planRows(rows!, length!, { singles: true, least: 128 }))).toMatchObject([
      { lanes: 128, kept: 8, threads: 128 }, { lanes: 64, kept: 7, rowsPerGroup: 2 }, { lanes: 8, kept: 5, rowsPerGroup: 16 }, { lanes: 16, kept: 5 }, { lanes: 256, kept: 2, threads: 256 },
    ])
    expect(plan(4096, 16383)).toMatchObject({ lanes: 1024, kept: 16 })
    expect(plan(9, 16383, 3).kept).toBeUndefined()
    // Few rows of so many single elements are shared by workgroups.
    expect([plan(11, 30_617).kept, plan(11, 18_001).kept, plan(4096, 30_617).kept]).toEqual([undefined, 18, 30])
  })
})
