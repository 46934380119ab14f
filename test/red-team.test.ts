import { problemOf } from '@core/backend'
import type { BenchmarkCase, Dtype, Params } from '@core/case'
import { createVerifier } from '@core/measure/verify/verify'
import { getOp } from '@core/ops/registry'
import { createRandom } from '@core/stats/random'
import { describe, expect, it } from 'vitest'
import { fakeBackend } from '../main/backends/fake'
import { capture, FAULTS, withFault, withOutput } from './bench/proof/faults'

/** The same each time: `npm run bench -- red-team` draws anew, and publishes the share that is found. */
const SEED = 20261122
const TRIALS = 3
const noPause = () => Promise.resolve()
const CASES: readonly [op: string, params: Params, dtypes: readonly Dtype[]][] = [
  ['copy', { n: 1000 }, ['f32', 'f16', 'bf16']],
  ['add', { n: 70_001 }, ['f32', 'f16', 'bf16']],
  ['gelu', { n: 20_000 }, ['f32', 'f16', 'bf16']],
  ['softmax', { rows: 33, cols: 65 }, ['f32', 'f16', 'bf16']],
  ['layer_norm', { tokens: 70, dim: 129 }, ['f32', 'f16', 'bf16']],
  ['sum', { rows: 1000, cols: 40, axis: 'last' }, ['f32', 'f16', 'bf16']],
  ['matmul', { m: 96, n: 70, k: 64 }, ['f32', 'f16', 'bf16', 'tf32']],
  ['transformer_block', { batch: 2, seq: 9, dim: 32, heads: 4 }, ['f32', 'f16', 'bf16']],
]
/** In these dtypes it is the rounding of the dtype itself. */
const allowed = (fault: string, op: string, dtype: Dtype) => fault === 'bf16 arithmetic' && (dtype !== 'f32' || op === 'copy')

async function prepared(op: string, params: Params, dtype: Dtype) {
  const c: BenchmarkCase = { op, params, dtype, backend: 'fake', impl: 'steady', device: 'fake:0', mode: 'hot' }
  const problem = problemOf(getOp(op), c, 99)
  const honest = await fakeBackend({}).open(problem)
  const captured = await capture(honest, problem)
  const served = withOutput(honest, captured)
  const check = (work: number, sampleSeed: number) => createVerifier(getOp(op), c, problem.seed, work, { sampleSeed }).check(served, 'before', noPause)
  return { captured, check }
}

describe('faults are found', () => {
  it.each(CASES.flatMap(([op, params, dtypes]) => dtypes.map((dtype) => [op, dtype, params] as const)))('%s %s %j, every element compared', async (op, dtype, params) => {
    const { captured, check } = await prepared(op, params, dtype)
    expect(await check(1e9, 1)).toMatchObject({ ok: true, method: 'all', coverage: 1 })
    const random = createRandom(SEED)
    for (const [name, fault] of Object.entries(FAULTS)) {
      if (allowed(name, op, dtype)) continue
      for (let trial = 0; trial < TRIALS; trial++) {
        const { changed, value } = await withFault(captured, fault, random, () => check(1e9, 1))
        if (changed) expect({ seed: SEED, name, trial, ok: value.ok }).toEqual({ seed: SEED, name, trial, ok: false })
      }
    }
  })

  const PRODUCTS: readonly [op: string, params: Params, work: number][] = [
    ['matmul', { m: 160, n: 136, k: 64 }, 1e6],
    ['conv2d', { batch: 2, channels: 16, height: 18, filters: 64, kernelHeight: 3, groups: 2 }, 3e6],
    ['scaled_dot_product_attention', { batch: 1, heads: 4, seqQ: 100, headDim: 32, kvHeads: 2 }, 3.7e6],
    ['scaled_dot_product_attention', { batch: 1, heads: 4, seqQ: 100, headDim: 32, causal: true }, 1.9e6],
  ]
  it.each(PRODUCTS.flatMap(([op, params, work]) => (['f32', 'f16', 'bf16'] as const).map((dtype) => [op, dtype, params, work] as const)))('%s %s %j, whose elements are too many to compare, by projections', async (op, dtype, params, work) => {
    const { captured, check } = await prepared(op, params, dtype)
    for (let sampleSeed = 0; sampleSeed < 3; sampleSeed++) expect(await check(work, sampleSeed)).toMatchObject({ ok: true, method: 'projection', coverage: 1 })
    const random = createRandom(SEED)
    for (const [name, fault] of Object.entries(FAULTS)) {
      if (allowed(name, op, dtype)) continue
      for (let trial = 0; trial < 2; trial++) {
        const { value } = await withFault(captured, fault, random, () => check(work, trial))
        expect({ seed: SEED, name, trial, ok: value.ok }).toEqual({ seed: SEED, name, trial, ok: false })
      }
    }
  })

  it('in a vector too long to compare: one tile in all of many places', async () => {
    const { captured, check } = await prepared('add', { n: 100_000 }, 'f32')
    expect(await check(1e5, 1)).toMatchObject({ ok: true, method: 'sample', coverage: 1, sampleSeed: 1 })
    for (let tile = 0; tile < 97; tile += 8) {
      const stale = (c: typeof captured, put: (at: number, value: number) => void) => c.stale.subarray(tile * 1024, (tile + 1) * 1024).forEach((value, i) => put(tile * 1024 + i, value))
      expect({ tile, ok: (await withFault(captured, stale, createRandom(1), () => check(1e5, tile))).value.ok }).toEqual({ tile, ok: false })
    }
  })
})

describe('the line between less accurate and wrong', () => {
  const noisy = (relative: number) => (c: { right: ArrayLike<number> }, put: (at: number, value: number) => void, random: () => number) => {
    for (let at = 0; at < c.right.length; at++) put(at, Math.fround(c.right[at]! * (1 + relative * (2 * random() - 1))))
  }
  it.each([[5e-8, { ok: true }], [1.2e-6, { ok: false, inaccurate: true }], [2e-4, { ok: false }]] as const)('noise of %d in add f32', async (relative, expected) => {
    const { captured, check } = await prepared('add', { n: 20_000 }, 'f32')
    const { value } = await withFault(captured, noisy(relative), createRandom(3), () => check(1e9, 1))
    expect(value).toMatchObject(expected)
    expect(value.inaccurate).toBe('inaccurate' in expected ? true : undefined)
  })
})
