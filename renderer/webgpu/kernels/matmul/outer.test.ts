import { describe, expect, it } from 'vitest'
import { createRandom } from '@core/stats/random'
import { KERNELS } from '../registry'
import { planOuter } from './outer'

describe('small products of rows along k', () => {
  it('have every step of k once, and as many threads as a workgroup has', () => {
    const random = createRandom(5)
    const upTo = (most: number) => Math.ceil(most ** random())
    let planned = 0
    for (let i = 0; i < 3000; i++) {
      const [batch, m, n, k] = [upTo(300), 1 + upTo(31), 1 + upTo(31), upTo(1_000_000)] as const
      const plan = planOuter(batch, m, n, k, true, false)
      if (!plan) continue
      planned++
      const name = `${batch} of ${m} x ${n}, k = ${k}`
      expect(plan.down * plan.tilesM * 4 >= m && plan.across * plan.tilesN * 4 >= n && plan.down * plan.across * plan.shares <= 256, name).toBe(true)
      expect(plan.parts * plan.chunk >= k && (plan.parts - 1) * plan.chunk < k, name).toBe(true)
    }
    expect(planned).toBeGreaterThan(300)
  })
  it('are those whose operands both have their elements side by side across k, of several blocks', () => {
    expect(planOuter(1, 16, 16, 65_537, true, false)).toMatchObject({ down: 4, across: 4, shares: 16, parts: 264 })
    for (const [transA, transB] of [[true, true], [false, false], [false, true]] as const) expect(planOuter(1, 16, 16, 65_537, transA, transB)).toBeUndefined()
    const isPlanned = (...of: [batch: number, m: number, n: number, k: number]) => planOuter(...of, true, false) !== undefined
    // Few rows and columns that threads otherwise share, from a longer k on, unless products are many; fewer blocks from a very long one on.
    expect([isPlanned(1, 16, 16, 1024), isPlanned(1, 16, 16, 2048), isPlanned(300, 16, 16, 1024), isPlanned(1, 30, 30, 700), isPlanned(1, 8, 12, 4000), isPlanned(1, 8, 12, 100_000)]).toEqual([false, true, true, true, false, true])
    expect([isPlanned(1, 33, 16, 65_537), isPlanned(1, 30, 30, 600), isPlanned(1, 3, 5, 1_000_000)]).toEqual([false, false, false])
    // Larger ones of some steps, by workgroups of 16 rows and columns, where there are enough of these.
    expect([planOuter(1, 513, 54, 145, false, false), planOuter(1, 64, 64, 1000, false, false), planOuter(1, 300, 1000, 150, false, false), planOuter(1, 131, 1689, 251, false, true)]).toMatchObject([{ down: 4, across: 4, shares: 16, tilesM: 33, tilesN: 4, parts: 1 }, undefined, undefined, { shares: 16, tilesM: 9 }])
    // Parts are joined by a second step, where there are several.
    const steps = (batch: number, k: number) => KERNELS.get('matmul')!.build({ dtype: 'f32', dims: [batch, 16, 16, k, 1, 0], scalars: [] }).steps
    expect([steps(1, 65_537).length, steps(300, 4096).length]).toEqual([2, 1])
  })
  it('read operands along k by vectors of four steps, where rows are whole vectors', () => {
    const types = (k: number, transA: number, transB: number) => [...KERNELS.get('matmul')!.build({ dtype: 'f32', dims: [1, 301, 399, k, transA, transB], scalars: [] }).steps[0]!.wgsl.matchAll(/read> [ab]: array<(.+)>;/g)].map(([, type]) => type)
    expect([types(200, 0, 1), types(200, 0, 0), types(200, 1, 1), types(201, 0, 1), types(200, 1, 0)]).toEqual([['vec4<f32>', 'vec4<f32>'], ['vec4<f32>', 'f32'], ['f32', 'vec4<f32>'], ['f32', 'f32'], ['f32', 'f32']])
  })
})
