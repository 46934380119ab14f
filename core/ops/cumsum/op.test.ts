import { expect, it } from 'vitest'
import { generatedInputs, givenInputs } from '../readers'
import op from './op'

it('sums within each row', () => expect(Array.from(op.reference({ rows: 2, cols: 3 }, givenInputs([1, 2, 3, -1, 5, 0]), 0, 6))).toEqual([1, 3, 6, -1, 4, 4]))

it('a part of a long row starts from the sum of all in front of it, read once', () => {
  const p = { rows: 1, cols: 2 ** 18 }
  const inner = generatedInputs(op, p, 'f32', 3)
  const whole = op.reference(p, inner, 0, p.cols)
  let elements = 0
  const read: typeof inner = (input, start, count) => {
    elements += count
    return inner(input, start, count)
  }
  const part = op.granule(p)
  expect(part).toBeLessThan(p.cols)
  for (let start = p.cols - part; start >= 0; start -= part) expect(op.reference(p, read, start, part)).toEqual(whole.subarray(start, start + part))
  expect(elements).toBe(2 * p.cols - part)
})
