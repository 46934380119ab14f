import { describe, expect, it } from 'vitest'
import { createRandom } from '@core/stats/random'
import { planSplitQuery, planWholeQuery } from './split-query'

const of = (batch: number, heads: number, kvHeads: number, seqQ: number, seqK: number, headDim: number, causal = false) => ({ dtype: 'f32', batch, heads, kvHeads, seqQ, seqK, headDim, causal, scale: 1 }) as const

describe('attention whose threads share the keys of a query', () => {
  it('takes each query once, with threads of a subgroup and keys that fit the memory of a workgroup', () => {
    const random = createRandom(9)
    const upTo = (most: number) => Math.ceil(most ** random())
    let planned = 0
    for (let i = 0; i < 4000; i++) {
      const kvHeads = upTo(16)
      const [batch, each, seqQ, seqK, headDim] = [upTo(100), upTo(8), upTo(1500), upTo(1500), upTo(140)] as const
      const subgroups = [4, 32, 64][i % 3]!
      const workgroupBytes = [16_384, 49_152][i % 2]!
      const plan = planSplitQuery(of(batch, kvHeads * each, kvHeads, seqQ, seqK, headDim, i % 5 === 0), { subgroups, workgroupBytes })
      if (!plan) continue
      planned++
      const { threads, slices, shares, queries, vectors, pitch, chunk, keys, rows, blocks } = plan
      const name = JSON.stringify([batch, each, kvHeads, seqQ, seqK, headDim, plan])
      expect(slices * shares <= Math.min(32, subgroups) && slices * vectors * 4 >= headDim && vectors <= pitch, name).toBe(true)
      expect(blocks * rows >= each * seqQ && rows <= (threads / (slices * shares)) * queries, name).toBe(true)
      expect(chunk % (keys * shares) === 0 && chunk > 0, name).toBe(true)
      expect(32 * chunk * pitch * slices, name).toBeLessThanOrEqual(Math.min(32_768, workgroupBytes))
    }
    expect(planned).toBeGreaterThan(300)
  })

  it('takes many queries of few keys without sharing keys, with the parts of a head in one subgroup', () => {
    const random = createRandom(12)
    const upTo = (most: number) => Math.ceil(most ** random())
    let planned = 0
    for (let i = 0; i < 4000; i++) {
      const kvHeads = upTo(16)
      const [batch, each, seqQ, seqK, headDim] = [upTo(100), upTo(8), upTo(5000), upTo(150), upTo(512)] as const
      const subgroups = [4, 32, 64][i % 3]!
      const workgroupBytes = [16_384, 49_152][i % 2]!
      const plan = planWholeQuery(of(batch, kvHeads * each, kvHeads, seqQ, seqK, headDim, i % 5 === 0), { subgroups, workgroupBytes })
      if (!plan) continue
      planned++
      const { threads, slices, shares, apart, queries, vectors, pitch, chunk, keys, rows, blocks } = plan
      const name = JSON.stringify([batch, each, kvHeads, seqQ, seqK, headDim, plan])
      expect(shares === 1 && slices * apart <= Math.min(32, subgroups) && slices * vectors * 4 >= headDim && vectors <= pitch, name).toBe(true)
      expect(blocks * rows >= each * seqQ && (blocks - 1) * rows < each * seqQ && rows <= (threads / slices) * queries, name).toBe(true)
      expect(chunk % keys === 0 && chunk > 0 && 32 * chunk * pitch * slices <= Math.min(32_768, workgroupBytes), name).toBe(true)
    }
    expect(planned).toBeGreaterThan(300)
    expect([planWholeQuery(of(3, 7, 1, 1877, 7, 96, true), { subgroups: 32 })?.keys, planWholeQuery(of(3, 7, 1, 1877, 17, 96), { subgroups: 32 })?.keys]).toEqual([7, 6])
    // Few queries leave a device idle, and without subgroups nothing is exchanged.
    expect([planWholeQuery(of(1, 1, 1, 500, 7, 96), { subgroups: 32 }), planWholeQuery(of(3, 7, 1, 1877, 7, 96), {})]).toEqual([undefined, undefined])
  })
})
