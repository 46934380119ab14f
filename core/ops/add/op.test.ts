import { expect, it } from 'vitest'
import { givenInputs } from '../readers'
import op from './op'

it('adds element by element in double precision', () => {
  expect(Array.from(op.reference({ n: 3 }, givenInputs([1, 2, 2 ** 24], [10, -2, 1]), 0, 3))).toEqual([11, 0, 2 ** 24 + 1])
})

it('costs three transfers and one operation per element', () => {
  expect([op.bytes({ n: 100 }, 'f32'), op.bytes({ n: 100 }, 'f16'), op.flops({ n: 100 }), op.shapeLabel({ n: 16777216 })]).toEqual([1200, 600, 100, '16.8M'])
})
