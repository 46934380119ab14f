import { describe, expect, it } from 'vitest'
import { createRandom } from '@core/stats/random'
import { KERNELS } from '../registry'
import { planFewSteps } from './few-steps'

const build = (dims: readonly number[]) => KERNELS.get('matmul')!.build({ dtype: 'f32', dims, scalars: [] })

describe('products of few steps', () => {
  it('are covered once, by workgroups of 256 threads', () => {
    const random = createRandom(5)
    for (let i = 0; i < 3000; i++) {
      const [batch, m, n] = [9, 300_000, 300_000].map((most) => Math.ceil(most ** random())) as [number, number, number]
      const { wide, high, across, down, beside, below } = planFewSteps(batch, m, n)
      const name = `${batch} of ${m} x ${n}`
      const covers = (all: number, size: number, count: number) => size * count >= all && size * (count - 1) < all
      expect([wide * high, covers(n, across * wide, beside), covers(m, down * high, below)], name).toEqual([256, true, true])
    }
  })
  it('leave few columns of a workgroup empty, and no device idle', () => {
    expect(planFewSteps(1, 2049, 4043)).toMatchObject({ wide: 256, across: 4, down: 8, beside: 4, below: 257 })
    expect(planFewSteps(1, 193_043, 33)).toMatchObject({ wide: 32, high: 8, across: 2, down: 8 })
    expect(planFewSteps(1, 9, 1_000_003)).toMatchObject({ wide: 256, across: 4, down: 5, beside: 977, below: 2 })
  })
  it('are taken so where rows are no whole vectors and there is more to write than a thread for each output takes', () => {
    const groups = (m: number, n: number, k: number) => build([1, m, n, k, 1, 1]).steps.map((one) => one.groups)
    expect(groups(2049, 4043, 2)).toEqual([4 * 257])
    // Of more steps, also where rows are whole vectors but few.
    expect([groups(17, 32_769, 9), groups(17, 32_768, 9), groups(2048, 4096, 9)]).toEqual([[33 * 17], [32 * 17], [32 * 16]])
    expect(groups(359, 219, 5)).toEqual([Math.ceil((359 * 219) / 256)])
    // Fewer multiply-adds, but many outputs.
    expect(groups(3915, 333, 1)).toEqual([979])
  })
})

describe('products of few outputs and some steps', () => {
  it('are shared by threads, but many products, or few steps of many outputs, are not', () => {
    const groups = (...dims: number[]) => build(dims).steps.map((one) => one.groups)
    expect([groups(9, 5, 5, 128, 1, 0), groups(1, 8, 1000, 150, 0, 1)]).toEqual([[45], [250]])
    expect([groups(5000, 1, 1, 100, 0, 0), groups(1, 16, 1000, 65, 0, 1)]).toEqual([[Math.ceil(5000 / 256)], [Math.ceil(16_000 / 256)]])
  })
})
