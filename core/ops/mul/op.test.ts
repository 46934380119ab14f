import { expect, it } from 'vitest'
import { givenInputs } from '../readers'
import op from './op'

it('multiplies element by element in double precision', () => {
  const a = 1 + 2 ** -23
  expect(Array.from(op.reference({ n: 3 }, givenInputs([3, -2, a], [4, 0.5, a]), 0, 3))).toEqual([12, -1, a * a])
})

it('costs three transfers and one operation per element', () => {
  expect([op.bytes({ n: 100 }, 'f32'), op.flops({ n: 100 })]).toEqual([1200, 100])
})
