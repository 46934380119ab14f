import { expect, it } from 'vitest'
import { generatedInputs, givenInputs } from '../readers'
import op from './op'

it('matches a result worked out by hand', () => {
  const out = op.reference({ rows: 2, cols: 2 }, givenInputs([0, Math.log(3), 5, 5]), 0, 4)
  // ln 3 is rounded to f32 on the way in.
  ;[0.25, 0.75, 0.5, 0.5].forEach((value, i) => expect(out[i]).toBeCloseTo(value, 7))
})

it('rows are positive and add up to one', () => {
  const p = { rows: 9, cols: 301 }
  const out = op.reference(p, generatedInputs(op, p, 'f32', 2), 0, 9 * 301)
  for (let r = 0; r < p.rows; r++) {
    const row = out.subarray(r * p.cols, (r + 1) * p.cols)
    expect(row.reduce((a, b) => a + b, 0)).toBeCloseTo(1, 13)
    expect(row.every((v) => v > 0)).toBe(true)
  }
})

it('stays finite for inputs whose exponential does not', () => {
  expect(Array.from(op.reference({ rows: 1, cols: 2 }, givenInputs([1000, 1000]), 0, 2))).toEqual([0.5, 0.5])
})

it('costs two transfers and five operations per element', () => {
  expect([op.bytes({ rows: 10, cols: 10 }, 'bf16'), op.flops({ rows: 10, cols: 10 }), op.shapeLabel({ rows: 4096, cols: 32768 })]).toEqual([400, 500, '4096x32768'])
})
