import { describe, expect, it } from 'vitest'
import { THREADS } from '../../wgsl/header'
import { KERNELS } from '../registry'
import { lanesOf } from './short'

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
    expect([groups(67, 67), groups(1024, 1024)]).toEqual([67, 16])
  })
  it('takes tiles of 64 queries, and smaller ones where there are few', () => {
    const groups = (queries: number) => build('scaled_dot_product_attention', [20, 4, 4, queries, 100, 40, 0]).steps[0]!.groups
    expect([groups(130), groups(64), groups(20)]).toEqual([240, 80, 160])
  })

  it('multiplies nothing for queries behind the last one, nor values that no query of a thread sees', () => {
    const text = (causal: number, queries = 197) => build('scaled_dot_product_attention', [20, 4, 4, queries, queries, 40, causal]).steps[0]!.wgsl
    const weighed = (seen: string) => `let weighed = select(0u, min(64u, ${seen} - first_key), has_queries);`
    expect([text(0).includes(weighed('seq_k')), text(1).includes(weighed('min(seq_k, query + 4u)'))]).toEqual([true, true])
    expect([text(0, 192).includes('weighed'), text(0, 1000).includes('weighed'), text(1, 1024).includes('weighed')]).toEqual([false, false, true])
  })

  it('shares the keys of few queries between workgroups, which a second step joins', () => {
    const groups = (heads: number, queries: number, keys: number, causal = 0) => build('scaled_dot_product_attention', [1, heads, heads, queries, keys, 64, causal]).steps.map((one) => one.groups)
    expect(groups(1, 1, 17)).toEqual([1])
    // As many chunks of 256 keys as there are, or of fewer where that leaves a device idle.
    expect([groups(1, 1, 4241), groups(1, 2, 1501), groups(20, 1, 1025)]).toEqual([[67, 1], [48, 2], [100, 20]])
    expect(groups(1024, 1, 2048)).toEqual([1024])
    expect(groups(8, 7, 65537)).toEqual([56 * 18, 56])
    // Causal: a query sees no key behind it.
    expect(groups(2, 4, 4096, 1)).toEqual([8])
  })

  it('reads of few queries all that a step needs before its first barrier, four keys of values at once in short heads', () => {
    const text = (headDim: number) => build('scaled_dot_product_attention', [100, 66, 66, 16, 17, headDim, 1]).steps[0]!.wgsl
    const before = (wgsl: string) => wgsl.slice(wgsl.indexOf('for (var at'), wgsl.indexOf('workgroupBarrier'))
    expect([32, 128].map((headDim) => before(text(headDim)).split(/\b[qk]\[/).length - 1)).toEqual([4, 8])
    expect([128, 256].map((headDim) => text(headDim).split('f32(v[').length - 1)).toEqual([4 * 8, 16])
  })
})
