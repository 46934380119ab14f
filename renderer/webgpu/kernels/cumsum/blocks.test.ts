import { describe, expect, it } from 'vitest'
import { blockSums, planBlocks } from './blocks'
import kernel from './kernel'

const LIMITS = [{}, { threads: 1024, workgroupBytes: 32_768 }, { threads: 1024, workgroupBytes: 49_152, subgroups: 32 }]
const groups = (rows: number, cols: number, limits = {}) => kernel.build({ dtype: 'f32', dims: [rows, cols], scalars: [], ...limits }).steps.map((step) => step.groups)

describe('rows that workgroups sum up in blocks', () => {
  it('are covered by blocks of which none is empty, whose threads meet different banks', () => {
    for (const limits of LIMITS)
      for (const rows of [1, 40, 300, 5000])
        for (const cols of [2049, 4097, 8192, 19_335, 53_987, 500_003, 786_432]) {
          const plan = planBlocks(rows, cols, limits)
          if (!plan) continue
          const { vectors, width, each, blocks, threads } = plan
          expect([each % 2, vectors * width, each * threads * blocks >= vectors, each * threads * (blocks - 1) < vectors, 4 * width * each * threads < ('workgroupBytes' in limits ? 32_768 : 16_384)], `${rows} x ${cols}`).toEqual([1, cols, true, true, true])
        }
  })
  it('follow each other in a workgroup for each row where rows are many, of more threads where they are fewer', () => {
    expect([2000, 400, 140].map((rows) => planBlocks(rows, 36_777, LIMITS[2]!))).toMatchObject([{ threads: 256, shared: false }, { threads: 512, shared: false }, { threads: 1024, shared: false }])
    expect([groups(9, 2271), groups(330, 36_777)]).toEqual([[9], [330]])
  })
  it('have a workgroup each where these run at once, which wait for each other', () => {
    const plan = planBlocks(4, 381_917, LIMITS[2]!)!
    expect([plan.shared, plan.blocks * 4 <= 528]).toEqual([true, true])
    const { steps: [step], scratchBytes } = blockSums('f32', 4, plan, LIMITS[2]!)
    expect([step!.groups, scratchBytes]).toEqual([4 * plan.blocks, [4 * (4 * (plan.blocks - 1) + 1 + 4)]])
    // A device need not go on with all workgroups that have begun.
    expect(step!.wgsl).toContain('tries < 16384u')
  })
  it('are left to two dispatches where rows are few and have too many blocks', () => {
    expect([planBlocks(1, 29_195_039, {}), groups(1, 29_195_039).length]).toEqual([undefined, 2])
  })
  it('of one element are copied', () => {
    expect(groups(4096, 1)).toEqual([8])
  })
})
