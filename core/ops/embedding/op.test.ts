import { expect, it } from 'vitest'
import { givenInputs } from '../readers'
import op from './op'

it('takes the rows that indices name', () => {
  expect(Array.from(op.reference({ rows: 3, dim: 2, indices: 4 }, givenInputs([2, 0, 2, 1], [1, 2, 3, 4, 5, 6]), 0, 8))).toEqual([5, 6, 1, 2, 5, 6, 3, 4])
})

it('counts the rows that random indices name, not the table', () => {
  const table = (rows: number, indices: number) => op.bytes({ rows, dim: 1, indices }, 'f32') - 8 * indices
  expect(table(1_000_000, 10)).toBe(40)
  expect(table(4, 1000)).toBe(16)
  // 1 - 1/e of the rows
  expect(table(100_000, 100_000) / 400_000).toBeCloseTo(0.632, 3)
})
