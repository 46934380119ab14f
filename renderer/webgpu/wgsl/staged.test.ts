import { describe, expect, it } from 'vitest'
import { KERNELS } from '../kernels/registry'
import { planStaged } from './staged'

describe('rows that workgroups bring to their memory', () => {
  it('are no whole vectors, short, and many', () => {
    expect([planStaged(1_000_003, 8), planStaged(1_000_003, 17), planStaged(60_001, 7)]).toEqual([undefined, undefined, undefined])
    expect([planStaged(1_000_003, 7), planStaged(1_000_003, 15)]).toEqual([{ rows: 512 }, { rows: 232 }])
  })
  it('fit the memory of a workgroup, which begins with a sector of memory', () => {
    for (const tensors of [1, 2, 3])
      for (let length = 1; length <= 16; length++) {
        const plan = planStaged(2 ** 21, length, tensors)
        if (plan) expect([plan.rows % 8, plan.rows > 0, plan.rows * length * tensors <= 3584], `${length} of ${tensors}`).toEqual([0, true, true])
      }
  })
  it('are those of row operations and of running sums', () => {
    const groups = (op: string, dims: readonly number[]) => KERNELS.get(op)!.build({ dtype: 'f32', dims, scalars: [1e-5] }).steps.map((step) => step.groups)
    for (const op of ['softmax', 'layer_norm', 'cross_entropy_backward', 'cumsum']) expect(groups(op, [1_000_003, 7]), op).toEqual([Math.ceil(1_000_003 / 512)])
    expect(groups('softmax_backward', [1_000_003, 7])).toEqual([Math.ceil(1_000_003 / 256)])
  })
})
