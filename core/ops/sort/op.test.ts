import { expect, it } from 'vitest'
import { generatedInputs, givenInputs } from '../readers'
import op from './op'

const read = givenInputs([3, -0, 3, -7, 0])
const p = { rows: 1, cols: 5, descending: false }

it('sorts with equal values in their order, either way', () => {
  expect(Array.from(op.reference(p, read, 0, 5, 1))).toEqual([3, 1, 4, 0, 2])
  expect(Array.from(op.reference({ ...p, descending: true }, read, 0, 5, 1))).toEqual([0, 2, 1, 4, 3])
  expect(Array.from(op.reference(p, read, 0, 5), (v) => v + 0)).toEqual([-7, 0, 0, 3, 3])
})

it('agrees with the language on long rows with many equal values', () => {
  const q = { rows: 1, cols: 5000, descending: false }
  const inputs = generatedInputs(op, q, 'bf16', 3)
  const x = inputs(0, 0, 5000)
  const order = Array.from(x.keys()).sort((a, b) => x[a]! - x[b]! || a - b)
  expect(new Set(x).size).toBeLessThan(4000)
  expect(Array.from(op.reference(q, inputs, 0, 5000, 1))).toEqual(order)
})
