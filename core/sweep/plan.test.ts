import { describe, expect, it } from 'vitest'
import { caseId } from '../case'
import { FAMILIES } from '../ops/types'
import { testDevice, testGpu } from '../testing'
import { MAX_CASES, planSweep } from './plan'
import { conv2d, SIZE_FORMS, vector } from '../ops/forms'
import { parseSizes } from './sizes'
import { findSizePreset, SIZE_PRESETS } from './defaults'
import { sweepSpecSchema, type SweepSpec } from '../session/sweep-spec'

const cpu = { backend: 'cpu', device: 'cpu', impls: ['scalar', 'avx2'], threads: [1, 4] }
const gpu = { backend: 'cuda', device: 'cuda:0', impls: ['kernel'] }
const devices = [testDevice(), testGpu()]

const spec = (change: Partial<SweepSpec> = {}): SweepSpec => ({
  ops: [{ op: 'add' }], sizes: { vector: '1K, 2K', matrix: '64', gemm: '32' }, dtypes: ['f32'], targets: [cpu], modes: ['hot'], preset: 'quick', ...change,
})
const planned = (change: Partial<SweepSpec> = {}, on = devices) => planSweep(spec(change), on)
const short = (change: Partial<SweepSpec>) => planned(change).cases.map((c) => [c.op, ...Object.values(c.params), c.dtype, c.mode, c.impl, c.threads ?? ''].join(' ').trim())

describe('cases', () => {
  it('go by op, size, dtype and mode, with what is compared side by side', () => {
    expect(short({ ops: [{ op: 'add' }, { op: 'gelu' }], targets: [{ ...cpu, threads: [4] }, gpu], modes: ['cold', 'hot'] }).slice(0, 8)).toEqual([
      'add 1000 f32 cold scalar 4', 'add 1000 f32 cold avx2 4', 'add 1000 f32 cold kernel', 'add 1000 f32 hot scalar 4', 'add 1000 f32 hot avx2 4', 'add 1000 f32 hot kernel', 'add 2000 f32 cold scalar 4', 'add 2000 f32 cold avx2 4',
    ])
  })

  it('count ops x attributes x sizes x dtypes x implementations x threads x modes', () => {
    const plan = planned({ ops: [{ op: 'add' }, { op: 'sum', attributes: { axis: ['all', 'last', 'first'] } }], modes: ['hot', 'cold'] })
    expect(plan.cases).toHaveLength((2 + 3) * 2 * 2 * 2)
    expect([plan.problems, plan.skipped]).toEqual([[], []])
  })

  it('are each there once, whatever was picked twice', () => {
    const plan = planned({ targets: [cpu, { ...cpu, impls: ['avx2', 'avx2'] }], sizes: { vector: '1K, 1000, 1K', matrix: '', gemm: '' }, dtypes: ['f32', 'f32'], modes: ['hot', 'hot'], ops: [{ op: 'add' }, { op: 'add' }] })
    expect(plan.cases).toHaveLength(4)
    expect(new Set(plan.cases.map(caseId)).size).toBe(4)
  })

  it('carry the parameters of their op, with sizes by its own names and the first word of a choice where none was picked', () => {
    const { cases } = planned({ ops: [{ op: 'layer_norm' }, { op: 'sum' }, { op: 'matmul' }], targets: [{ ...cpu, impls: ['avx2'], threads: [1] }] })
    expect(cases.map((c) => c.params)).toEqual([{ tokens: 64, dim: 64 }, { rows: 64, cols: 64, axis: 'all' }, { m: 32, n: 32, k: 32 }])
  })

  it('use all threads where none were picked, and name none where there is no choice', () => {
    expect(short({ targets: [{ backend: 'cpu', device: 'cpu', impls: ['avx2'] }, gpu] })).toEqual(['add 1000 f32 hot avx2 4', 'add 1000 f32 hot kernel', 'add 2000 f32 hot avx2 4', 'add 2000 f32 hot kernel'])
  })

  it('are the same every time', () => {
    const big = { ops: FAMILIES.map(() => ({ op: 'gelu' })), targets: [cpu, gpu], dtypes: ['f32', 'bf16'] as const }
    expect(planned({ ...big, dtypes: [...big.dtypes] })).toEqual(planned({ ...big, dtypes: [...big.dtypes] }))
  })
})

describe('what is left out has a reason and a count', () => {
  it.each<[string, Partial<SweepSpec>, ReturnType<typeof testDevice>[], number, RegExp]>([
    ['no kernel', { ops: [{ op: 'mul' }] }, devices, 8, /^Scalar has no kernel for mul$/],
    ['a dtype the op lacks', { dtypes: ['tf32'] }, devices, 8, /^add is not defined for tf32$/],
    ['a dtype the kernel lacks', { dtypes: ['bf16'] }, devices, 8, /^Scalar has add in f32, not in bf16$/],
    ['a mode', { modes: ['graph'] }, devices, 8, /^Test CPU cannot be measured in mode graph, only cold, hot$/],
    ['threads', { targets: [{ ...cpu, threads: [3] }] }, devices, 4, /^Test CPU runs with 1, 2, 4 threads, not 3$/],
    ['memory', {}, [testDevice({ memoryBytes: 20_000 })], 4, /^inputs and output take 23\.4 KiB; a case may take 19\.5 KiB on Test CPU\. What fits: 1\/2 of the elements \(11\.7 KiB\), or f16 \(11\.7 KiB\), or bf16 \(11\.7 KiB\)$/],
    ['one tensor', {}, [testDevice({ maxTensorBytes: 5000 })], 4, /^a tensor takes 7\.81 KiB; Test CPU allows 4\.88 KiB$/],
    ['an index', { ops: [{ op: 'sum' }], sizes: { vector: '', matrix: '2^21', gemm: '' } }, devices, 4, /more than 1099511627776 elements/],
  ])('%s', (_name, change, on, count, reason) => {
    const plan = planned(change, on)
    expect(plan.skipped.reduce((sum, s) => sum + s.count, 0)).toBe(count)
    expect(plan.skipped[0]!.reason).toMatch(reason)
    expect(plan.skipped[0]!.example).not.toMatch(/undefined/)
    expect(plan.problems).toEqual([])
  })

  it('groups what has the same reason', () => {
    expect(planned({}, [testDevice({ memoryBytes: 20_000 })]).skipped).toEqual([
      { op: 'add', backend: 'cpu', device: 'cpu', impl: 'scalar', dtype: 'f32', reason: expect.stringMatching(/^inputs and output take 23\.4 KiB/) as string, count: 2, example: 'add 2000 f32 hot' },
      { op: 'add', backend: 'cpu', device: 'cpu', impl: 'avx2', dtype: 'f32', reason: expect.stringMatching(/^inputs and output take 23\.4 KiB/) as string, count: 2, example: 'add 2000 f32 hot' },
    ])
  })
})

describe('mistakes are told, and the rest is planned', () => {
  it.each<[string, Partial<SweepSpec>, RegExp]>([
    ['nothing picked', { ops: [] }, /no operation is picked/],
    ['an unknown op', { ops: [{ op: 'gelo' }] }, /unknown operation "gelo"; expected one of copy, /],
    ['a ceiling op', { ops: [{ op: 'peak_fma' }] }, /unknown operation "peak_fma"/],
    ['a bad size', { sizes: { vector: '1K, x', matrix: '', gemm: '' } }, /vector sizes at character 5/],
    ['no size', { sizes: { vector: ' ', matrix: '', gemm: '' } }, /no vector size is given/],
    ['no dtype', { dtypes: [] }, /no dtype is picked/],
    ['no mode', { modes: [] }, /no mode is picked/],
    ['no target', { targets: [] }, /no device is picked/],
    ['an unknown device', { targets: [{ ...cpu, device: 'cpu:9' }] }, /no device cpu:9 of backend cpu; found cpu, cuda:0/],
    ['an unknown implementation', { targets: [{ ...cpu, impls: ['neon'] }] }, /Test CPU has no implementation "neon"; expected one of scalar, avx2/],
    ['an unknown word', { ops: [{ op: 'sum', attributes: { axis: ['middle'] } }] }, /sum has no axis "middle"; expected one of all, last, first/],
    ['an unknown attribute', { ops: [{ op: 'add', attributes: { constructor: ['x'] } }] }, /add has no attribute "constructor"/],
    ['an empty choice', { ops: [{ op: 'sum', attributes: { axis: [] } }] }, /no axis is picked for sum/],
  ])('%s', (_name, change, message) => expect(planned(change).problems.join('\n')).toMatch(message))

  it('sizes of a kind that no picked op uses do not matter', () => {
    expect(planned({ sizes: { vector: '8', matrix: 'nonsense', gemm: '' } }).problems).toEqual([])
  })

  it('a device that is missing gives its reason', () => {
    expect(planned({}, [testDevice({ available: { ok: false, reason: 'no addon was built' } })]).problems).toEqual(['Test CPU: no addon was built'])
  })

  it('one bad pick leaves the others', () => {
    const plan = planned({ ops: [{ op: 'gelo' }, { op: 'add' }] })
    expect([plan.problems.length, plan.cases.length]).toEqual([1, 8])
  })

  it('more cases than a session holds are refused at once', () => {
    const plan = planned({ sizes: { vector: '1..5000 step 1', matrix: '', gemm: '' }, ops: ['add', 'gelu', 'copy'].map((op) => ({ op })), modes: ['hot', 'cold'], dtypes: ['f32', 'f16'] })
    expect(plan.cases).toEqual([])
    expect(plan.problems[0]).toBe(`240000 cases; at most ${MAX_CASES} go into one session: pick fewer operations or sizes`)
  })
})

describe('size presets', () => {
  it.each(SIZE_PRESETS.map((preset) => ({ preset, id: preset.id })))('$id reads as sizes of every form', ({ preset }) => {
    for (const form of SIZE_FORMS) {
      const result = parseSizes(form, preset.sizes[form.id]!)
      expect([form.id, result.ok ? result.sizes.length > 0 : result.message]).toEqual([form.id, true])
    }
  })

  it('the SIMD suite counts in thousands, the classes in powers of two', () => {
    expect(parseSizes(vector, findSizePreset('simd')!.sizes['vector']!)).toMatchObject({ sizes: [[100], [1000], [10_000], [100_000], [1_000_000]] })
    expect(parseSizes(vector, findSizePreset('xlarge')!.sizes['vector']!)).toMatchObject({ sizes: [[2 ** 26]] })
    expect(new Set(SIZE_PRESETS.map((preset) => preset.id)).size).toBe(SIZE_PRESETS.length)
  })

  it('hold the 23 distinct convolutions of ResNet-50', () => {
    const layers = parseSizes(conv2d, findSizePreset('model')!.sizes['conv2d']!)
    expect(layers.ok && layers.sizes.length).toBe(23)
  })
})

it('a sweep from before attributes is read with its variants as attributes', () => {
  const old = { ...spec({}), ops: [{ op: 'sum', variants: { axis: ['last'] } }] }
  expect(sweepSpecSchema.parse(old).ops).toEqual([{ op: 'sum', attributes: { axis: ['last'] } }])
})
