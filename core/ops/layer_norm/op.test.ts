import { expect, it } from 'vitest'
import { generatedInputs, givenInputs } from '../readers'
import op from './op'

it('matches a result worked out by hand', () => {
  // mean 2, variance 1: (x - 2) / sqrt(1.00001) * weight + bias
  const out = op.reference({ tokens: 1, dim: 2, eps: 1e-5 }, givenInputs([1, 3], [2, 4], [10, 20]), 0, 2)
  const unit = 1 / Math.sqrt(1 + 1e-5)
  expect(Array.from(out)).toEqual([10 - 2 * unit, 20 + 4 * unit])
})

it('gives every token mean 0 and variance 1 before weight and bias', () => {
  const p = { tokens: 5, dim: 640, eps: 1e-5 }
  const x = generatedInputs(op, p, 'f32', 4)(0, 0, 5 * 640)
  const out = op.reference(p, givenInputs(Array.from(x), new Array<number>(640).fill(1), new Array<number>(640).fill(0)), 0, 5 * 640)
  for (let t = 0; t < p.tokens; t++) {
    const row = out.subarray(t * p.dim, (t + 1) * p.dim)
    expect(row.reduce((a, b) => a + b, 0) / p.dim).toBeCloseTo(0, 12)
    expect(row.reduce((a, b) => a + b * b, 0) / p.dim).toBeCloseTo(1, 3)
  }
})

it('reads weight and bias once and costs seven operations per element', () => {
  expect([op.bytes({ tokens: 10, dim: 4 }, 'f32'), op.flops({ tokens: 10, dim: 4 }), op.granule({ tokens: 10, dim: 4 })]).toEqual([352, 280, 4])
})
