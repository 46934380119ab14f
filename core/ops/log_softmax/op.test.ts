import { expect, it } from 'vitest'
import { generatedInputs, givenInputs } from '../readers'
import softmax from '../softmax/op'
import op from './op'

it('matches a result worked out by hand', () => {
  const out = op.reference({ rows: 2, cols: 2 }, givenInputs([0, Math.log(3), 5, 5]), 0, 4)
  ;[-Math.log(4), Math.log(0.75), -Math.LN2, -Math.LN2].forEach((value, i) => expect(out[i]).toBeCloseTo(value, 7))
})

it('is the logarithm of softmax, and finite where its exponentials are not', () => {
  const p = { rows: 5, cols: 77 }
  const read = generatedInputs(op, p, 'f32', 2)
  const soft = softmax.reference(p, read, 0, 385)
  op.reference(p, read, 0, 385).forEach((value, i) => expect(value).toBeCloseTo(Math.log(soft[i]!), 12))
  expect(Array.from(op.reference({ rows: 1, cols: 2 }, givenInputs([1000, -1000]), 0, 2))).toEqual([0, -2000])
})

it('costs two transfers and five operations per element', () => expect([op.bytes({ rows: 10, cols: 10 }, 'f16'), op.flops({ rows: 10, cols: 10 })]).toEqual([400, 500]))
