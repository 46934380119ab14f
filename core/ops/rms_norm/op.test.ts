import { expect, it } from 'vitest'
import { givenInputs } from '../readers'
import op from './op'

it('matches a result worked out by hand', () => {
  // mean of squares (9 + 16) / 2 = 12.5 for the first token, 0 for the second
  const out = op.reference({ tokens: 2, dim: 2, eps: 0.5 }, givenInputs([3, 4, 0, 0], [2, -1]), 0, 4)
  expect(out[0]).toBeCloseTo(6 / Math.sqrt(13), 14)
  expect(out[1]).toBeCloseTo(-4 / Math.sqrt(13), 14)
  expect(Array.from(out.subarray(2), Math.abs)).toEqual([0, 0])
})

it('reads the weight once and costs four operations per element', () => {
  expect([op.bytes({ tokens: 10, dim: 4 }, 'f32'), op.flops({ tokens: 10, dim: 4 }), op.granule({ tokens: 10, dim: 4 })]).toEqual([336, 160, 4])
})
