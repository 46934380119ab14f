import { describe, expect, it } from 'vitest'
import { createRandom } from '@core/stats/random'
import { KERNELS } from '../../registry'
import { keysSeen, type FewAttention } from '../few'
import { planMatrices } from './plan'

const matrices = ([[16, 16, 16], [16, 8, 16], [16, 8, 8]] as const).map(([m, n, k]) => ({ component: 'f16', result: 'f32', m, n, k }) as const)
const device = { subgroups: 32, threads: 1024, workgroupBytes: 49_152, matrices }
const of = (changed: Partial<FewAttention> = {}): FewAttention => ({ dtype: 'f16', batch: 1, heads: 32, kvHeads: 32, seqQ: 2048, seqK: 2048, headDim: 128, causal: false, scale: 1, ...changed })
const build = ({ dtype, batch, heads, kvHeads, seqQ, seqK, headDim, causal }: FewAttention, limits: object = device) =>
  KERNELS.get('scaled_dot_product_attention')!.build({ dtype, dims: [batch, heads, kvHeads, seqQ, seqK, headDim, Number(causal)], scalars: [], ...limits })

/** Bytes of workgroup memory that a module declares. */
const declared = (wgsl: string): number =>
  [...wgsl.matchAll(/var<workgroup> \w+: (.*);/g)].reduce((sum, [, type]) => sum + [...type!.matchAll(/, (\d+)>/g)].reduce((size, [, count]) => size * Number(count), type!.includes('vec4<u32>') ? 16 : 4), 0)

describe('attention by matrices', () => {
  it('covers the queries and the keys, within the memory and the threads of a workgroup', () => {
    const random = createRandom(8)
    const upTo = (most: number) => Math.ceil(most ** random())
    for (let i = 0; i < 400; i++) {
      const kvHeads = upTo(8)
      const one = of({ batch: upTo(20), kvHeads, heads: kvHeads * upTo(4), seqQ: 31 + upTo(4000), seqK: 8 + upTo(9000), headDim: upTo(256), causal: random() < 0.5 })
      const limits = { ...device, workgroupBytes: random() < 0.5 ? 49_152 : 32_768, threads: random() < 0.5 ? 256 : 1024 }
      const plan = planMatrices(one, limits)
      if (!plan) continue
      const name = JSON.stringify(one)
      const queries = plan.rows * plan.subgroups
      expect(plan.tiles * queries >= one.seqQ && (plan.tiles - 1) * queries < one.seqQ, name).toBe(true)
      expect(plan.parts * plan.perPart >= keysSeen(one) && (plan.parts - 1) * plan.perPart < keysSeen(one) && plan.perPart % plan.keys === 0, name).toBe(true)
      expect(plan.depth >= one.headDim && plan.depth % plan.matrices.k === 0 && plan.subgroups * plan.lanes <= limits.threads, name).toBe(true)
      const text = build(one, limits).steps[0]!.wgsl
      if (text.includes('subgroup_matrix_left')) expect(declared(text), name).toBeLessThanOrEqual(limits.workgroupBytes)
    }
  })

  it('is for f16, heads of up to 256 and devices with such products and enough memory', () => {
    expect(planMatrices(of(), device)).toMatchObject({ subgroups: 8, rows: 16, parts: 1 })
    const refused = [planMatrices(of({ dtype: 'f32' }), device), planMatrices(of({ headDim: 257 }), device), planMatrices(of(), { ...device, matrices: [] }), planMatrices(of(), { ...device, subgroups: undefined }), planMatrices(of(), { ...device, workgroupBytes: 16_384 })]
    expect(refused).toEqual(refused.map(() => undefined))
  })

  it('has the largest tile of which there are enough, and which its queries fill', () => {
    const queries = (changed: Partial<FewAttention>) => { const plan = planMatrices(of(changed), device)!; return plan.subgroups * plan.rows }
    expect([queries({}), queries({ causal: true }), queries({ headDim: 64 }), queries({ headDim: 64, causal: true })]).toEqual([128, 128, 256, 64])
    expect([queries({ headDim: 64, heads: 15 }), queries({ headDim: 64, heads: 4 }), queries({ headDim: 64, batch: 16, seqQ: 64 }), queries({ headDim: 64, batch: 16, seqQ: 200 })]).toEqual([128, 64, 64, 256])
  })

  it('joins parts of the keys where queries are too few for a device', () => {
    expect(build(of({ heads: 1, kvHeads: 1, seqQ: 256, seqK: 16_384 })).steps).toHaveLength(2)
    expect(build(of()).steps).toHaveLength(1)
  })
})
