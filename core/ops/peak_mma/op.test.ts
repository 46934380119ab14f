import { expect, it } from 'vitest'
import { givenInputs } from '../readers'
import op from './op'

it('ends where it started when every iteration was done', () => {
  expect(Array.from(op.reference({ n: 3, iterations: 7 }, givenInputs([1, -2, 0.5]), 0, 3))).toEqual([1, -2, 0.5])
})

it('counts eight 16x8x16 products per iteration of a warp', () => {
  expect(op.flops({ n: 1, iterations: 1 })).toBe(8 * 2 * 16 * 8 * 16)
  expect(op.dims({ n: 132, iterations: 64 })).toEqual([132, 64])
})
