import { expect, it } from 'vitest'
import { tensorsOf } from '../define'
import { generatedInputs, givenInputs } from '../readers'
import op from './op'

it('matches a result worked out by hand', () => {
  // losses log 4 (even logits) and log(1 + 3) - log 3
  const out = op.reference({ tokens: 2, classes: 4 }, givenInputs([7, 7, 7, 7, 0, Math.log(3), -1e4, -1e4], [2, 1]), 0, 1)
  expect(out[0]).toBeCloseTo((Math.log(4) + Math.log(4 / 3)) / 2, 7)
})

it('takes class indices that are in range, and reads every logit', () => {
  const p = { tokens: 500, classes: 10 }
  const target = generatedInputs(op, p, 'bf16', 3)(1, 0, 500)
  expect(new Set(target)).toEqual(new Set([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]))
  expect(tensorsOf(op, p, 'bf16').map(({ storage }) => storage)).toEqual(['bf16', 'i32', 'bf16'])
  expect(op.bytes(p, 'bf16')).toBe(500 * 10 * 2 + 500 * 4 + 2)
})
