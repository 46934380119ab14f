import { expect, it } from 'vitest'
import { generatedInputs, givenInputs } from '../readers'
import op from './op'

it('takes each element by its own index', () => {
  expect(Array.from(op.reference({ rows: 3, dim: 2, indices: 2 }, givenInputs([1, 2, 3, 4, 5, 6], [2, 0, 1, 1]), 0, 4))).toEqual([5, 2, 3, 4])
})

it('gives the same of a table too long to be kept', () => {
  const p = { rows: 3_000_000, dim: 2, indices: 5 }
  const read = generatedInputs(op, p, 'f32', 3)
  const index = read(1, 0, 10)
  expect(Array.from(op.reference(p, read, 0, 10))).toEqual(Array.from(index, (row, i) => read(0, row * 2 + (i % 2), 1)[0]))
})
