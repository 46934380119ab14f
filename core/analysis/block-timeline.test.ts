import { describe, expect, it } from 'vitest'
import type { Row } from '../session/rows'
import { findOp, OPS } from '../ops/registry'
import { partCosts } from '../ops/composite'
import { inputsOf, outputsOf } from '../ops/define'
import { planSweep } from '../sweep/plan'
import { measuredParts } from '../sweep/parts'
import { testDevice } from '../testing'
import { blockTimelines } from './block-timeline'

const kernels = Object.fromEntries(OPS.map(({ id }) => [id, ['f32' as const]]))
const cpu = testDevice({ impls: [{ id: 'avx2', title: 'AVX2', available: { ok: true }, preferred: true, kernels: Object.fromEntries(Object.entries(kernels).filter(([id]) => id !== 'transformer_block')) }] })
const python = testDevice({ backend: 'python', id: 'python:cpu', name: 'Python', impls: [{ id: 'torch', title: 'PyTorch', available: { ok: true }, preferred: true, kernels }], threads: [1, 4] })
const target = (backend: string, device: string, impl: string) => ({ backend, device, impls: [impl], threads: [4] })
const spec = { ops: [{ op: 'transformer_block', sizes: '2x64x128x4' }], sizes: {}, dtypes: ['f32' as const], modes: ['hot' as const], preset: 'quick' as const, targets: [target('cpu', 'cpu', 'avx2'), target('python', 'python:cpu', 'torch')], parts: 'both' as const }
const block = findOp('transformer_block')!

describe('a sweep of parts', () => {
  it('measures every part of the block, and the block where a kernel of it exists', () => {
    const { cases, problems } = planSweep(spec, [cpu, python])
    expect(problems).toEqual([])
    expect(cases.filter(({ op }) => op === 'transformer_block').map(({ impl }) => impl)).toEqual(['torch'])
    for (const { op, params } of measuredParts(block, block.params.parse({ batch: 2, seq: 64, dim: 128, heads: 4 }), 'both')) for (const impl of ['avx2', 'torch']) expect(cases.filter((c) => c.impl === impl && c.op === op.id && JSON.stringify(c.params) === JSON.stringify(params))).toHaveLength(1)
    expect(planSweep({ ...spec, parts: 'forward' }, [cpu]).cases.length).toBeLessThan(planSweep(spec, [cpu]).cases.length)
  })

  it('does the work of the block forward, and twice the products of it backward', () => {
    const p = block.params.parse({ batch: 2, seq: 64, dim: 128, heads: 4 })
    const parts = measuredParts(block, p, 'both')
    const work = (pass: string, op?: string) => parts.filter((part) => part.pass === pass && (op === undefined || part.op.id === op)).reduce((sum, { op: of, params }) => sum + of.flops(of.params.parse(params)), 0)
    expect(work('forward')).toBe(block.flops(p))
    const linear = partCosts(block, p, 'f32').filter(({ op }) => op.id === 'matmul').reduce((sum, { flops }) => sum + flops, 0)
    // Two products for each linear layer, and five of seq x seq x headDim for attention without fusion.
    expect(work('backward', 'matmul')).toBe(2 * linear + 5 * 2 * 2 * 64 * 64 * 128)
    // Every gradient has the shape of what it is the gradient of.
    for (const [name, rows, cols] of [['fc1_dweight', 512, 128], ['fc1_dx', 128, 128], ['qkv_dweight', 384, 128]] as const) {
      const { op, params } = parts.find((part) => part.name === name)!
      expect([name, outputsOf(op, op.params.parse(params), 'f32')[0]!.elements]).toEqual([name, rows * cols])
    }
    const dbias = parts.find(({ name }) => name === 'fc2_dbias')!
    expect(inputsOf(dbias.op, dbias.op.params.parse(dbias.params), 'f32')[0]!.shape).toEqual([128, 128])
  })
})

describe('the timeline of a block', () => {
  const { cases } = planSweep(spec, [cpu, python])
  const row = (c: (typeof cases)[number], i: number, medianNs: number): Row => ({ id: `r${i}`, case: c, status: 'ok', medianNs, bytes: 1000, flops: c.op === 'matmul' ? 4000 : 0 })
  const rows = cases.map((c, i) => row(c, i, c.op === 'transformer_block' ? 900 : c.impl === 'avx2' ? 100 : 50))

  it('places the parts one after the other and adds them up by pass', () => {
    const [own, torch] = blockTimelines(spec, rows, [])
    const forward = measuredParts(block, { batch: 2, seq: 64, dim: 128, heads: 4 }, 'forward').length
    expect([own!.forwardNs, torch!.forwardNs]).toEqual([forward * 100, forward * 50])
    expect(own!.backwardNs).toBe((own!.parts.length - forward) * 100)
    expect(own!.parts.map(({ startNs }) => startNs)).toEqual(own!.parts.map((_, i) => i * 100))
    expect(own!.parts.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(1, 12)
    expect(own!.parts.find(({ name }) => name === 'qkv')).toMatchObject({ pass: 'forward', bytesPerSecond: 1e10, flopsPerSecond: 4e10 })
    expect([own!.whole, own!.torch?.ns, torch!.whole?.ns]).toEqual([undefined, 900, 900])
    expect(own!.missing).toEqual([])
  })

  it('finds PyTorch in a session from a file, whose parameters stand in another order', () => {
    const stored = rows.map((one) => ({ ...one, case: { ...one.case, params: Object.fromEntries(Object.entries(one.case.params).sort(([a], [b]) => a.localeCompare(b))) } }))
    expect(blockTimelines(spec, stored, []).map(({ torch }) => torch?.ns)).toEqual([900, 900])
  })

  it('says which parts have no valid result, and leaves them out of the sum', () => {
    const failed = rows.map((one): Row => (one.case.impl === 'avx2' && one.case.op === 'gelu' ? { ...one, status: 'wrong' } : one))
    const [own] = blockTimelines(spec, failed, [])
    expect([own!.missing, own!.complete]).toEqual([['gelu'], false])
    expect(own!.parts.map(({ name }) => name)).not.toContain('gelu')
  })

  it('is none for a sweep without parts', () => {
    expect(blockTimelines({ ops: spec.ops, sizes: {} }, rows, [])).toEqual([])
  })
})
