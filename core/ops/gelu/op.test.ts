import { expect, it } from 'vitest'
import { generatedInputs, givenInputs } from '../readers'
import op from './op'

it('matches x / 2 * erfc(-x / sqrt 2) of the C library', () => {
  const out = op.reference({ n: 5 }, givenInputs([0, 1, -1, 3, -3]), 0, 5)
  const known = [0, 0.8413447460685429, -0.15865525393145707, 2.99595030590511, -0.004049694094890287]
  out.forEach((value, i) => expect(value).toBeCloseTo(known[i]!, 14))
})

it('satisfies gelu(x) - gelu(-x) = x', () => {
  const x = generatedInputs(op, { n: 500 }, 'f32', 3)(0, 0, 500)
  const plus = op.reference({ n: 500 }, () => x, 0, 500)
  const minus = op.reference({ n: 500 }, () => x.map((v) => -v), 0, 500)
  plus.forEach((value, i) => expect(value - minus[i]!).toBeCloseTo(x[i]!, 13))
})

it('costs two transfers and five operations per element', () => {
  expect([op.bytes({ n: 100 }, 'f16'), op.flops({ n: 100 })]).toEqual([400, 500])
})
