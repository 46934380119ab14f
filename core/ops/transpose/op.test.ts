import { expect, it } from 'vitest'
import { givenInputs } from '../testing'
import op from './op'

it('writes columns as rows', () => {
  const p = { rows: 2, cols: 3 }
  const x = givenInputs([1, 2, 3, 4, 5, 6])
  expect(Array.from(op.reference(p, x, 0, 6))).toEqual([1, 4, 2, 5, 3, 6])
  expect(Array.from(op.reference(p, x, 1, 4))).toEqual([4, 2, 5, 3])
  expect([op.bytes(p, 'bf16'), op.flops(p)]).toEqual([24, 0])
})
