import { describe, expect, it } from 'vitest'
import { KERNELS } from '../registry'
import { isOwnQuery, planOwnQuery } from './own-query'

const of = (batch: number, heads: number, kvHeads: number, seqQ: number, seqK: number, headDim: number, causal = false) => ({ dtype: 'f32', batch, heads, kvHeads, seqQ, seqK, headDim, causal, scale: 1 }) as const

describe('attention of a query of each thread', () => {
  it('has the heads of a workgroup in threads and memory of every adapter', () => {
    for (let queries = 1; queries <= 64; queries++) {
      for (let keys = 9; keys <= 64; keys++) {
        for (const headDim of [4, 16, 23, 32]) {
          const plan = planOwnQuery(of(1000, 8, 8, queries, keys, headDim))
          const name = `${queries} ${keys} ${headDim}`
          expect(plan.sources * queries <= plan.threads && plan.sources > 0 && plan.chunk > 0 && plan.keys <= 8 && plan.keys > 0, name).toBe(true)
          expect(32 * Math.ceil(headDim / 4) * plan.sources * plan.chunk, name).toBeLessThanOrEqual(16_384)
        }
      }
    }
    expect(planOwnQuery(of(75, 1024, 1024, 17, 17, 16))).toEqual({ threads: 128, sources: 7, blocks: 1, rows: 17, chunk: 17, keys: 6 })
    expect(planOwnQuery(of(513, 2, 1, 1024, 23, 16, true))).toMatchObject({ sources: 1, blocks: 16, rows: 128 })
  })
  it('takes many queries of short heads and few keys, also those of heads that share keys', () => {
    expect([of(75, 1024, 1024, 17, 17, 16), of(500, 1, 1, 50, 50, 24), of(300, 8, 2, 16, 40, 32)].map(isOwnQuery)).toEqual([true, true, true])
    expect([of(1, 1, 1, 17, 17, 16), of(500, 1, 1, 50, 50, 128), of(500, 1, 1, 50, 129, 24), of(9000, 1, 1, 8, 8, 16)].map(isOwnQuery)).toEqual([false, false, false, false])
    expect(KERNELS.get('scaled_dot_product_attention')!.build({ dtype: 'f32', dims: [75, 1024, 1024, 17, 17, 16, 0], scalars: [] })).toMatchObject({ scratchBytes: [], steps: [{ groups: Math.ceil((75 * 1024) / 7) }] })
  })
})
