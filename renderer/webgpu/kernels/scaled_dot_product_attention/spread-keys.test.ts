import { describe, expect, it } from 'vitest'
import { createRandom } from '@core/stats/random'
import { planSpreadKeys } from './spread-keys'

const of = (batch: number, heads: number, kvHeads: number, seqQ: number, seqK: number, headDim: number, causal = false) => ({ dtype: 'f32', batch, heads, kvHeads, seqQ, seqK, headDim, causal, scale: 1 }) as const

describe('attention whose threads have queries beside each other and share their keys', () => {
  it('takes each query once, with keys that fit the memory of a workgroup', () => {
    const random = createRandom(9)
    const upTo = (most: number) => Math.ceil(most ** random())
    let planned = 0
    for (let i = 0; i < 4000; i++) {
      const kvHeads = upTo(16)
      const [batch, each, seqQ, seqK, headDim] = [upTo(100), upTo(8), upTo(1500), upTo(1500), upTo(80)] as const
      const workgroupBytes = [16_384, 49_152][i % 2]!
      const plan = planSpreadKeys(of(batch, kvHeads * each, kvHeads, seqQ, seqK, headDim, i % 5 === 0), { workgroupBytes })
      if (!plan) continue
      planned++
      const { rows, shares, blocks, vectors, chunk, keys } = plan
      const name = JSON.stringify([batch, each, kvHeads, seqQ, seqK, headDim, plan])
      expect(rows * shares, name).toBe(256)
      expect(blocks * rows >= each * seqQ && (blocks - 1) * rows < each * seqQ, name).toBe(true)
      expect(chunk % (keys * shares) === 0 && chunk * vectors >= 256, name).toBe(true)
      expect(32 * chunk * vectors + 2048, name).toBeLessThanOrEqual(Math.min(34_816, workgroupBytes))
    }
    expect(planned).toBeGreaterThan(300)
  })
})
