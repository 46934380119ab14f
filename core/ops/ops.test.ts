import { describe, expect, it } from 'vitest'
import { problemOf } from '../backend'
import { DTYPE_BYTES, type Params } from '../case'
import { generatedInputs } from './readers'
import { ALL_OPS, findOp, getOp, OPS } from './registry'

/** Two shapes per size kind, the second odd. */
const SHAPES: Readonly<Record<string, readonly Params[]>> = {
  vector: [{ n: 256 }, { n: 127 }],
  matrix: [{ rows: 12, cols: 64 }, { rows: 7, cols: 13 }],
  gemm: [{ m: 16, n: 32, k: 8 }, { m: 5, n: 7, k: 3 }],
}

/** The shapes with every variant of the op, under the op's own parameter names. */
function paramsOf(op: (typeof ALL_OPS)[number]): Params[] {
  const shapes = SHAPES[op.sizeKind]!.map((shape): Params => {
    if (op.id === 'spin') return { iterations: 100 }
    if (op.id === 'spin_ns') return { ns: 1000 }
    if (op.family === 'ceiling') return { ...shape, iterations: 100 }
    return op.id === 'layer_norm' ? { tokens: shape.rows!, dim: shape.cols! } : shape
  })
  return Object.entries(op.variants ?? {}).reduce<Params[]>((all, [name, words]) => all.flatMap((p) => words.map((word) => ({ ...p, [name]: word }))), shapes)
}

const size = (shape: readonly number[]) => shape.reduce((a, b) => a * b, 1)
const cases = ALL_OPS.flatMap((op) => paramsOf(op).map((params) => ({ op, params, name: `${op.id} ${JSON.stringify(params)}` })))

describe('every op', () => {
  it.each(cases)('$name: traffic is each input read once and the output written once', ({ op, params }) => {
    const p = op.params.parse(params)
    for (const dtype of op.dtypes) {
      const elements = [...op.inputs(p).map((input) => size(input.shape)), size(op.outputShape(p))].reduce((a, b) => a + b, 0)
      expect(op.bytes(p, dtype)).toBe(elements * DTYPE_BYTES[dtype])
    }
  })

  it.each(cases)('$name: any part of the reference equals that part of the whole', ({ op, params }) => {
    const p = op.params.parse(params)
    const read = generatedInputs(op, params, 'f32', 1)
    const total = size(op.outputShape(p))
    const granule = op.granule(p)
    const whole = op.reference(p, read, 0, total)
    expect(whole.length).toBe(total)
    expect(whole.every(Number.isFinite)).toBe(true)
    expect(total % granule).toBe(0)
    for (let start = 0; start < total; start += granule * 3) {
      const count = Math.min(granule * 5, total - start)
      expect(Array.from(op.reference(p, read, start, count))).toEqual(Array.from(whole.subarray(start, start + count)))
    }
  })

  it.each(cases)('$name: reads stay inside the inputs', ({ op, params }) => {
    const p = op.params.parse(params)
    const sizes = op.inputs(p).map((input) => size(input.shape))
    const inner = generatedInputs(op, params, 'f32', 1)
    op.reference(p, (input, start, count) => {
      expect(start).toBeGreaterThanOrEqual(0)
      expect(count).toBeGreaterThan(0)
      expect(start + count).toBeLessThanOrEqual(sizes[input]!)
      return inner(input, start, count)
    }, 0, size(op.outputShape(p)))
  })

  it.each(cases)('$name: kernels get whole numbers and a tolerance for every dtype', ({ op, params }) => {
    const p = op.params.parse(params)
    expect(op.dims(p).every((d) => Number.isInteger(d) && d >= 0)).toBe(true)
    for (const dtype of op.dtypes) expect(op.tolerance(p, dtype).relL2).toBeGreaterThan(0)
    expect(op.referenceCost(p)).toBeGreaterThan(0)
    expect(op.shapeLabel(p)).not.toMatch(/undefined|NaN/)
  })

  it.each(ALL_OPS.map((op) => ({ op, name: op.id })))('$name: a size that is no positive whole number is refused with what was expected', ({ op }) => {
    const [good] = paramsOf(op)
    const name = Object.keys(good!)[0]!
    for (const bad of [0, -1, 1.5, NaN, Infinity, 2 ** 33, '7']) {
      const outcome = op.params.safeParse({ ...good, [name]: bad })
      expect(outcome.success).toBe(false)
      expect(outcome.error!.issues[0]!.path).toEqual([name])
      expect(outcome.error!.issues[0]!.message).toBe(`expected a whole number from 1 to 4294967296, received ${typeof bad === 'string' ? `"${bad}"` : bad}`)
    }
    const missing: Params = { ...good }
    delete missing[name]
    expect(op.params.safeParse(missing).error!.issues[0]!.message).toContain('received nothing')
  })

  it('has an id that is its folder, listed once, in the order of families', () => {
    const folders = Object.keys(import.meta.glob('./*/op.ts')).map((path) => path.split('/')[1])
    expect(ALL_OPS.map((op) => op.id).sort()).toEqual(folders.sort())
    expect(OPS.map((op) => op.id)).toEqual(['copy', 'add', 'mul', 'exp', 'gelu', 'sum', 'softmax', 'layer_norm', 'matmul'])
  })

  it('an unknown id names the choices', () => {
    expect(findOp('gelo')).toBeUndefined()
    expect(() => getOp('gelo')).toThrow('unknown operation "gelo"; expected one of copy, add, mul')
  })

  it('a problem carries sizes, kernel integers and fills', () => {
    const problem = problemOf(getOp('layer_norm'), { op: 'layer_norm', params: { tokens: 4, dim: 8 }, dtype: 'f32', backend: 'x', impl: 'y', device: 'z', mode: 'hot' }, 9)
    expect(problem).toMatchObject({ dims: [4, 8], outputElements: 32, seed: 9 })
    expect(problem.inputs.map((input) => input.elements)).toEqual([32, 8, 8])
  })
})
