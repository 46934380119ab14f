import { expect, it } from 'vitest'
import { givenInputs } from '../readers'
import op from './op'

it('is the exponential in double precision', () => {
  expect(Array.from(op.reference({ n: 3 }, givenInputs([0, 1, -2]), 0, 3))).toEqual([1, Math.E, Math.exp(-2)])
})

it('costs two transfers and one operation per element', () => {
  expect([op.bytes({ n: 100 }, 'f32'), op.flops({ n: 100 }), op.tolerance({ n: 100 }, 'f32').relL2]).toEqual([800, 100, 1e-6])
})
