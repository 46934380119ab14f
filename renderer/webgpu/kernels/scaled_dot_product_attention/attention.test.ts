import { describe, expect, it } from 'vitest'
import { createRandom } from '@core/stats/random'
import { THREADS } from '../../wgsl/header'
import { KERNELS } from '../registry'
import { keysSeen } from './few'
import { planSharedKeys } from './shared-keys'
import { lanesOf } from './short'
import { planTiles } from './tiled'

const build = (op: string, dims: readonly number[]) => KERNELS.get(op)!.build({ dtype: 'f32', dims, scalars: [] })

describe('attention', () => {
  it('over few keys has neighbouring threads share a query, as many as leave few of them idle', () => {
    expect(build('scaled_dot_product_attention', [2048, 32, 1, 4, 4, 16, 0]).steps[0]!.groups).toBe((4 * 2048 * 32 * 4) / THREADS)
    expect([1, 3, 4, 10, 16, 40, 128, 33].map((length) => lanesOf(length, 5000))).toEqual([1, 4, 4, 4, 16, 16, 32, 8])
    // Of few queries, idle threads cost less than vectors that each has.
    expect([1, 3, 10, 20, 64].map((length) => lanesOf(length, 2))).toEqual([1, 4, 16, 32, 32])
    // More keys while queries are few.
    expect([9, 9000].map((batch) => build('scaled_dot_product_attention', [batch, 2, 2, 2, 13, 256, 0]).steps[0]!.wgsl.includes('score_12'))).toEqual([true, false])
  })

  it('takes a workgroup for each query where tiles are few and little is read', () => {
    const groups = (queries: number, keys: number) => build('scaled_dot_product_attention', [1, 1, 1, queries, keys, 96, 0]).steps[0]!.groups
    expect([groups(67, 67), groups(1024, 1024)]).toEqual([67, 16 * 16])
  })
  it('shares the keys of few tiles between workgroups, in whole tiles, which a second step joins', () => {
    expect(build('scaled_dot_product_attention', [1, 2, 2, 600, 600, 64, 0]).steps.map(({ groups }) => groups)).toEqual([2 * 10 * 10, 2 * 600])
    expect(build('scaled_dot_product_attention', [16, 8, 8, 500, 500, 64, 0]).steps.map(({ groups }) => groups)).toEqual([16 * 8 * 8])
    const random = createRandom(6)
    for (let i = 0; i < 2000; i++) {
      const upTo = (most: number) => Math.ceil(most ** random())
      const [seqQ, seqK, causal] = [upTo(5000), upTo(50_000), random() < 0.5]
      const { tiles, parts, perPart } = planTiles({ batch: upTo(20), heads: upTo(20), seqQ, seqK, causal })
      const seen = keysSeen({ seqQ, seqK, causal })
      expect(tiles * 64 >= seqQ && perPart % 64 === 0 && parts * perPart >= seen && (parts - 1) * perPart < seen, `${seqQ} ${seqK}`).toBe(true)
    }
  })
  it('takes tiles of 64 queries, and less than 32 queries by up to eight, with those of other heads that share their keys', () => {
    const groups = (queries: number, kvHeads = 4) => build('scaled_dot_product_attention', [20, 4, kvHeads, queries, 100, 80, 0]).steps[0]!.groups
    expect([groups(130), groups(64), groups(20), groups(5), groups(5, 2)]).toEqual([240, 80, 240, 80, 80])
    // Keys that no causal query sees are none.
    expect(build('scaled_dot_product_attention', [701, 4, 4, 4, 129, 32, 1]).steps.map((one) => one.groups)).toEqual([Math.ceil((701 * 4 * 4 * 8) / THREADS)])
  })

  it('has eight queries of a thread where heads fill the threads, keys and tiles are many and workgroup memory is more than the least', () => {
    const isTall = (heads: number, queries: number, headDim: number, causal: 0 | 1, workgroupBytes?: number, dtype: 'f32' | 'f16' = 'f32') =>
      KERNELS.get('scaled_dot_product_attention')!.build({ dtype, dims: [1, heads, heads, queries, queries, headDim, causal], scalars: [], workgroupBytes }).steps[0]!.wgsl.includes('@workgroup_size(128)')
    expect([isTall(32, 2048, 128, 0, 49_152), isTall(32, 1024, 64, 1, 32_768), isTall(32, 512, 128, 1, 49_152)]).toEqual([true, true, true])
    expect([isTall(32, 2048, 128, 0), isTall(32, 2048, 128, 0, 16_384), isTall(32, 2048, 64, 0, 49_152), isTall(32, 2048, 80, 1, 49_152), isTall(31, 512, 128, 0, 49_152), isTall(128, 256, 128, 0, 49_152)]).toEqual([false, false, false, false, false, false])
    expect(isTall(32, 2048, 128, 0, 49_152, 'f16')).toBe(false)
  })

  it('has threads of a subgroup take many queries of 2 to 40 keys, of heads longer than those of a query for each thread', () => {
    const groups = (...dims: number[]) => KERNELS.get('scaled_dot_product_attention')!.build({ dtype: 'f32', dims, scalars: [], subgroups: 32, workgroupBytes: 49_152 }).steps[0]!.groups
    // Eight threads a query: 16 queries of 128 threads, and 64 of 256 threads where keys are more.
    expect([groups(3, 7, 1, 1877, 7, 96, 1), groups(8, 4, 4, 1000, 16, 128, 0)]).toEqual([3 * Math.ceil((7 * 1877) / 16), 8 * 4 * Math.ceil(1000 / 64)])
    // Tiles of 64 queries for more keys.
    expect([groups(8, 4, 4, 1000, 41, 128, 0)]).toEqual([8 * 4 * 16])
  })

  it('covers queries that share keys, and the keys, in plans of several queries', () => {
    const random = createRandom(4)
    const upTo = (most: number) => Math.ceil(most ** random())
    for (let i = 0; i < 3000; i++) {
      const kvHeads = upTo(20)
      const of = { dtype: 'f32', batch: upTo(300), heads: kvHeads * upTo(8), kvHeads, seqQ: upTo(31), seqK: upTo(16_000), headDim: upTo(512), causal: random() < 0.5, scale: 1 } as const
      const { threads, rows, blocks, sharing, chunk, parts, perPart } = planSharedKeys(of, { subgroups: 32 })
      const name = JSON.stringify(of)
      expect(rows * blocks >= (of.heads / kvHeads) * of.seqQ && rows * (blocks - 1) < (of.heads / kvHeads) * of.seqQ, name).toBe(true)
      expect(parts * perPart >= keysSeen(of) && (parts - 1) * perPart < keysSeen(of) && chunk % 4 === 0 && chunk > 0, name).toBe(true)
      expect(threads >= Math.ceil(of.headDim / 4) && threads % sharing === 0, name).toBe(true)
      expect(16 * (rows * Math.ceil(of.headDim / 4)) + 4 * rows * chunk, name).toBeLessThanOrEqual(14_336)
    }
    expect([planSharedKeys({ dtype: 'f32', batch: 701, heads: 4, kvHeads: 4, seqQ: 4, seqK: 129, headDim: 32, causal: false, scale: 1 }, { subgroups: 32 }).sharing, planSharedKeys({ dtype: 'f32', batch: 701, heads: 4, kvHeads: 4, seqQ: 4, seqK: 129, headDim: 32, causal: false, scale: 1 }, {}).sharing]).toEqual([2, 1])
  })

  it('multiplies nothing for queries behind the last one, nor values that no query of a thread sees', () => {
    const text = (causal: number, queries = 197) => build('scaled_dot_product_attention', [20, 4, 4, queries, queries, 80, causal]).steps[0]!.wgsl
    const weighed = (seen: string) => `let all_weighed = select(0u, min(64u, ${seen} - first_key), has_queries);`
    expect([text(0).includes(weighed('seq_k')), text(1).includes(weighed('min(seq_k, query + 4u)'))]).toEqual([true, true])
    expect([text(0, 192).includes('all_weighed'), text(0, 1000).includes('all_weighed'), text(1, 1024).includes('all_weighed')]).toEqual([false, false, true])
  })

  it('shares the keys of few queries between workgroups, which a second step joins', () => {
    const groups = (heads: number, queries: number, keys: number, causal = 0) => build('scaled_dot_product_attention', [1, heads, heads, queries, keys, 64, causal]).steps.map((one) => one.groups)
    expect(groups(1, 1, 17)).toEqual([1])
    // As many chunks of 256 keys as there are, or of fewer where that leaves a device idle.
    expect([groups(1, 1, 4241), groups(1, 2, 1501), groups(20, 1, 1025)]).toEqual([[67, 1], [48, 2], [100, 20]])
    expect(groups(1024, 1, 2048)).toEqual([1024])
    // One that some queries share, where there are several.
    expect([groups(8, 1, 65537), groups(8, 7, 65537)]).toEqual([[8 * 86, 8], [8 * 66, 56]])
    // Causal: a query sees no key behind it.
    expect(groups(2, 20, 4096, 1)).toEqual([40])
  })
})
