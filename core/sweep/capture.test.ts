import { readdirSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { OPS } from '../ops/registry'
import { testDevice } from '../testing'
import { capturedPicks, capturedShapes, captureSchema, sweepFileOf, sweepFileSchema, type Capture } from './capture'
import { planSweep } from './plan'

/** Written by test/fixtures/capture/encoder.py under capture.py, by two versions of PyTorch. */
const FIXTURES = resolve(import.meta.dirname, '../../test/fixtures/capture')
const captures = readdirSync(FIXTURES).filter((name) => name.endsWith('.json')).map((name) => [name, captureSchema.parse(JSON.parse(readFileSync(resolve(FIXTURES, name), 'utf8')))] as const)
const tensor = (shape: number[], dtype = 'float32', strides = shape.map((_, i) => shape.slice(i + 1).reduce((a, b) => a * b, 1))) => ({ shape, strides, dtype, device: 'cpu' })
const call = (op: string, args: Capture['operations'][number]['args'], kwargs = {}) => ({ op: `aten.${op}`, args, kwargs, count: 1 })
const shapes = (...operations: Capture['operations']) => capturedShapes({ operations })
const first = (...operations: Capture['operations']) => shapes(...operations).cases[0]

describe.each(captures)('a training step in %s', (_, capture) => {
  const found = capturedShapes(capture)
  const calls = (all: readonly { calls: number }[]) => all.reduce((sum, one) => sum + one.calls, 0)

  it('has each of its calls counted once', () => {
    expect(calls(found.cases) + calls(found.outside) + found.views).toBe(capture.calls)
  })

  it('holds the layers with the shapes they were built with', () => {
    for (const wanted of [
      { op: 'embedding', params: { rows: 100, dim: 64, indices: 32 } },
      { op: 'matmul', params: { m: 32, n: 192, k: 64, transB: true } },
      { op: 'matmul', params: { m: 256, n: 64, k: 32, transA: true } },
      { op: 'layer_norm', params: { tokens: 32, dim: 64 } },
      { op: 'gelu', params: { n: 8192 } },
      { op: 'gelu_backward', params: { n: 8192 } },
      { op: 'sum', params: { axis: 'first', rows: 32, cols: 256 } },
      { op: 'conv2d', params: { batch: 2, channels: 3, height: 32, width: 32, filters: 16, kernelHeight: 7, kernelWidth: 7, stride: 2, paddingHeight: 3, paddingWidth: 3 } },
      { op: 'batch_norm', params: { batch: 2, channels: 16, height: 16, width: 16 } },
      { op: 'max_pool2d', params: { batch: 2, channels: 16, height: 16, width: 16, kernel: 3, stride: 2, padding: 1 } },
    ]) expect(found.cases).toContainEqual(expect.objectContaining({ ...wanted, dtype: 'f32' }))
  })

  it('names what the catalogue has not, with its count', () => {
    expect(found.outside).toContainEqual({ op: 'aten.special_bessel_j0.default', calls: 1 })
    expect(found.outside).toContainEqual({ op: 'aten.uniform_.default', calls: 14 })
  })

  it('is a sweep of exactly its cases', () => {
    const device = testDevice({ impls: [{ id: 'avx2', title: 'AVX2', available: { ok: true }, preferred: true, kernels: Object.fromEntries(OPS.map(({ id }) => [id, ['f32' as const]])) }] })
    const { cases, problems } = planSweep({ ...sweepFileSchema.parse(JSON.parse(JSON.stringify(sweepFileOf('a', capture, found)))).picks, targets: [{ backend: 'cpu', device: 'cpu', impls: ['avx2'] }], modes: ['hot'], preset: 'quick' }, [device])
    expect(problems).toEqual([])
    const key = ({ op, params }: { op: string; params: object }) => `${op} ${JSON.stringify(Object.entries(params).sort())}`
    expect(new Set(cases.map(key))).toEqual(new Set(found.cases.map(key)))
    expect(cases).toHaveLength(found.cases.length)
  })
})

describe('a call', () => {
  it('is told apart by what the same name is called with', () => {
    const x = tensor([4, 8])
    expect(first(call('gelu.default', [x]))?.op).toBe('gelu')
    expect(first(call('gelu.default', [x], { approximate: 'tanh' }))?.op).toBe('gelu_tanh')
    expect(first(call('mul.Tensor', [x, 0.5]))).toMatchObject({ op: 'scale', params: { n: 32, factor: 0.5 } })
    expect(first(call('mul_.Tensor', [x, x]))).toMatchObject({ op: 'mul', params: { n: 32 } })
    expect(first(call('add.Tensor', [x, tensor([8])]))?.params).toEqual({ n: 32, broadcast: 'row', cols: 8 })
    expect(first(call('add.Tensor', [x, tensor([4, 1])]))?.params).toEqual({ n: 32, broadcast: 'column', cols: 8 })
    expect(first(call('add.Tensor', [x, tensor([])]))?.params).toEqual({ n: 32, broadcast: 'scalar' })
  })

  it('keeps the axes that a reduction goes over', () => {
    const image = tensor([2, 3, 4, 5])
    const over = (axes: number[]) => first(call('mean.dim', [image, axes]))?.params
    expect(over([2, 3])).toEqual({ axis: 'last', rows: 6, cols: 20 })
    expect(over([-1])).toEqual({ axis: 'last', rows: 24, cols: 5 })
    expect(over([0])).toEqual({ axis: 'first', rows: 2, cols: 60 })
    expect(over([0, 2, 3])).toEqual({ axis: 'first_last', batch: 2, rows: 3, cols: 20 })
    expect(first(call('sum.default', [image]))?.params).toEqual({ axis: 'all', rows: 1, cols: 120 })
    expect(over([1])).toBeUndefined()
  })

  it('reads causal attention with grouped heads, and none with a mask', () => {
    const [q, k] = [tensor([1, 8, 16, 32], 'bfloat16'), tensor([1, 2, 16, 32], 'bfloat16')]
    expect(first(call('_scaled_dot_product_flash_attention.default', [q, k, k, 0, true]))).toMatchObject({ dtype: 'bf16', params: { batch: 1, heads: 8, kvHeads: 2, seqQ: 16, headDim: 32, causal: true } })
    expect(shapes(call('_scaled_dot_product_efficient_attention.default', [q, q, q, tensor([1, 8, 16, 16]), false])).outside).toEqual([{ op: 'aten._scaled_dot_product_efficient_attention.default', calls: 1, reason: 'its shapes or arguments are not in the catalogue' }])
  })

  it('of a dtype that is not measured is told as that, and a transposed convolution as outside', () => {
    expect(shapes(call('add.Tensor', [tensor([4], 'float64'), tensor([4], 'float64')])).outside[0]).toMatchObject({ reason: 'its dtype is not in the catalogue' })
    const conv = (transposed: boolean) => shapes(call('convolution.default', [tensor([1, 4, 8]), tensor([4, 4, 3]), null, [1], [1], [1], transposed, [0], 1]))
    expect(conv(false).cases[0]).toMatchObject({ op: 'conv1d', params: { batch: 1, channels: 4, length: 8, filters: 4, kernel: 3 } })
    expect(conv(true).cases).toEqual([])
    expect(shapes(call('view.default', [tensor([4]), [2, 2]])).views).toBe(1)
  })
})

describe('the picks of a capture', () => {
  it('measure each operation in its own dtypes alone', () => {
    const { cases } = shapes(call('add.Tensor', [tensor([4]), tensor([4])]), call('mm.default', [tensor([2, 3], 'float16'), tensor([3, 4], 'float16')]))
    expect(capturedPicks({ cases })).toEqual({ ops: [{ op: 'add', sizes: '4', dtypes: ['f32'] }, { op: 'matmul', sizes: '2x4x3', dtypes: ['f16'] }], sizes: {}, dtypes: ['f32', 'f16'] })
  })
})
