import { describe, expect, it } from 'vitest'
import { problemOf } from '../backend'
import { STORAGE_BYTES, type Params } from '../case'
import { parseSizes, sizeParams, sizeText } from '../sweep/sizes'
import { canonicalParams, elementsOf, inputsOf, outputsOf, tensorsOf } from './define'
import { exampleParams, generatedInputs } from './testing'
import { SIZE_FORMS } from './forms'
import { ALL_OPS, findOp, getOp, OPS } from './registry'

const cases = ALL_OPS.flatMap((op) => exampleParams(op).map((params) => ({ op, params, name: `${op.id} ${JSON.stringify(params)}` })))

describe('every op', () => {
  it.each(cases)('$name: traffic is at most each tensor once in each pass, and each state read and written', ({ op, params }) => {
    const p = op.params.parse(params)
    // The operations that ceilings are measured with go over their tensors more than once.
    const passes = op.family === 'ceiling' && 'iterations' in params ? Number(params['iterations']) : 1
    for (const dtype of op.dtypes) {
      const whole = passes * tensorsOf(op, p, dtype).reduce((sum, { elements, storage, role }) => sum + elements * STORAGE_BYTES[storage] * (role === 'inout' ? 2 : 1), 0)
      expect(op.bytes(p, dtype)).toBeGreaterThan(0)
      expect(op.bytes(p, dtype)).toBeLessThanOrEqual(whole)
    }
  })

  it.each(cases)('$name: what is read is filled, and what is only written is not', ({ op, params }) => {
    for (const { name, role, fill, elements } of tensorsOf(op, op.params.parse(params), op.dtypes[0]!)) {
      expect([name, fill !== undefined]).toEqual([name, role !== 'out'])
      expect(elements).toBeGreaterThan(0)
    }
    expect(outputsOf(op, op.params.parse(params), op.dtypes[0]!).length).toBeGreaterThan(0)
  })

  it.each(cases)('$name: any part of the reference equals that part of the whole', ({ op, params }) => {
    const p = op.params.parse(params)
    const dtype = op.dtypes[0]!
    const read = generatedInputs(op, params, dtype, 1)
    for (const [output, { elements: total }] of outputsOf(op, p, dtype).entries()) {
      const granule = op.granule(p, output)
      const whole = op.reference(p, read, 0, total, output)
      expect(whole.length).toBe(total)
      expect(whole.every(Number.isFinite)).toBe(true)
      expect(total % granule).toBe(0)
      for (let start = 0; start < total; start += granule * 3) {
        const count = Math.min(granule * 5, total - start)
        expect(Array.from(op.reference(p, read, start, count, output))).toEqual(Array.from(whole.subarray(start, start + count)))
      }
    }
  })

  it.each(cases)('$name: what it states as a matrix product gives the reference', ({ op, params }) => {
    const p = op.params.parse(params)
    const dtype = op.dtypes[0]!
    const read = generatedInputs(op, params, dtype, 1)
    for (const [output, { elements }] of outputsOf(op, p, dtype).entries()) {
      const product = op.product?.(p, output)
      if (!product) continue
      const { batch, rows, inner, cols } = product
      expect(batch * rows * cols).toBe(elements)
      const reference = op.reference(p, read, 0, elements, output)
      for (let b = 0; b < batch; b++) {
        // In parts, as threads take them.
        const [top, half] = [Math.ceil(rows / 2), Math.ceil(inner / 2)]
        const left = [...product.left(read, b, 0, top), ...(top < rows ? product.left(read, b, top, rows - top) : [])]
        const right = [...product.right(read, b, 0, half), ...(half < inner ? product.right(read, b, half, inner - half) : [])]
        expect([left.length, right.length]).toEqual([rows * inner, inner * cols])
        for (let at = 0; at < rows * cols; at++) {
          let sum = 0
          for (let l = 0; l < inner; l++) sum += left[Math.floor(at / cols) * inner + l]! * right[l * cols + (at % cols)]!
          expect(sum).toBeCloseTo(reference[b * rows * cols + at]!, 10)
        }
      }
    }
  })

  it.each(cases)('$name: reads stay inside the inputs', ({ op, params }) => {
    const p = op.params.parse(params)
    const dtype = op.dtypes[0]!
    const sizes = inputsOf(op, p, dtype).map(({ shape }) => elementsOf(shape))
    const inner = generatedInputs(op, params, dtype, 1)
    for (const [output, { elements }] of outputsOf(op, p, dtype).entries()) {
      op.reference(p, (input, start, count) => {
        expect({ input, start, count, inside: start >= 0 && count > 0 && start + count <= sizes[input]! }).toMatchObject({ inside: true })
        return inner(input, start, count)
      }, 0, elements, output)
    }
  })

  it.each(cases)('$name: kernels get whole numbers and a tolerance for every dtype', ({ op, params }) => {
    const p = op.params.parse(params)
    expect(op.dims(p).every((d) => Number.isInteger(d) && d >= 0)).toBe(true)
    for (const dtype of op.dtypes) for (const output of outputsOf(op, p, dtype).keys()) expect(op.tolerance(p, dtype, output).relL2).toBeGreaterThan(0)
    expect(op.referenceCost(p)).toBeGreaterThan(0)
    expect(op.shapeLabel(p)).not.toMatch(/undefined|NaN/)
  })

  it.each(ALL_OPS.map((op) => ({ op, name: op.id })))('$name: a size that is no positive whole number is refused with what was expected', ({ op }) => {
    const [good] = exampleParams(op)
    const { name } = op.size.extents[0]!
    for (const bad of [0, -1, 1.5, NaN, Infinity, 2 ** 41, '7']) {
      const outcome = op.params.safeParse({ ...good, [name]: bad })
      expect(outcome.success).toBe(false)
      expect(outcome.error!.issues[0]!.path).toEqual([name])
      expect(outcome.error!.issues[0]!.message).toBe(`expected a whole number from 1 to 1099511627776, received ${typeof bad === 'string' ? `"${bad}"` : bad}`)
    }
    const missing: Params = { ...good }
    delete missing[name]
    expect(op.params.safeParse(missing).error!.issues[0]!.message).toContain('received nothing')
  })

  it('has an id of its own, which is its folder where it has one', () => {
    const ids = ALL_OPS.map((op) => op.id)
    expect(new Set(ids).size).toBe(ids.length)
    for (const path of Object.keys(import.meta.glob('./*/op.ts'))) expect(ids).toContain(path.split('/')[1])
  })

  it.each(ALL_OPS.map((op) => ({ op, name: op.id })))('$name: a case is the same with a default named or not, and its size is read back from its text', ({ op }) => {
    for (const params of exampleParams(op)) {
      expect(canonicalParams(op, op.params.parse(params))).toEqual(params)
      const read = parseSizes(op.size, sizeText(op.size, params))
      expect(read).toMatchObject({ ok: true })
      if (read.ok) expect(op.params.parse({ ...params, ...sizeParams(op.size, read.sizes[0]!) })).toEqual(op.params.parse(params))
    }
  })

  it.each(OPS.map((op) => ({ op, name: op.id })))('$name: states the PyTorch call that means the same, and a form that editors show', ({ op }) => {
    expect(op.torch).toMatch(/\(/)
    expect(SIZE_FORMS.map(({ id }) => id)).toContain(op.size.id)
  })

  it('an unknown id names the choices', () => {
    expect(findOp('gelo')).toBeUndefined()
    expect(() => getOp('gelo')).toThrow('unknown operation "gelo"; expected one of copy, ')
  })

  it('a problem carries sizes, kernel integers and fills', () => {
    const problem = problemOf(getOp('layer_norm'), { op: 'layer_norm', params: { tokens: 4, dim: 8 }, dtype: 'f32', backend: 'x', impl: 'y', device: 'z', mode: 'hot' }, 9)
    expect(problem).toMatchObject({ dims: [4, 8], scalars: [1e-5], seed: 9 })
    expect(problem.tensors.map(({ name, elements, role, stream }) => [name, elements, role, stream])).toEqual([['x', 32, 'in', 0], ['weight', 8, 'in', 1], ['bias', 8, 'in', 2], ['out', 32, 'out', undefined]])
  })
})
