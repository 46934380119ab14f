import { expect, it } from 'vitest'
import { generatedInputs, givenInputs } from '../testing'
import op from './op'

const size = { batch: 1, heads: 1, seqQ: 2, headDim: 1 }

it('matches a result worked out by hand', () => {
  // scores 0 and ln 3 for both queries: weights 1/4 and 3/4
  const read = givenInputs([1, 1], [0, Math.log(3)], [4, 8])
  const out = op.reference(op.params.parse(size), read, 0, 2)
  expect([out[0]!, out[1]!].map((v) => v.toFixed(6))).toEqual(['7.000000', '7.000000'])
  const causal = op.reference(op.params.parse({ ...size, causal: true }), read, 0, 2)
  expect(causal[0]).toBe(4)
  expect(causal[1]).toBeCloseTo(7, 6)
})

it('heads that share keys and values read those of their group', () => {
  const shared = { batch: 2, heads: 4, seqQ: 5, headDim: 6, seqK: 7 }
  const p = op.params.parse({ ...shared, kvHeads: 2 })
  const read = generatedInputs(op, p, 'f32', 4)
  const q = Array.from(read(0, 0, 2 * 4 * 30))
  const repeated = (input: number) => [0, 0, 1, 1, 2, 2, 3, 3].flatMap((head) => Array.from(read(input, head * 42, 42)))
  const whole = op.reference(op.params.parse(shared), givenInputs(q, repeated(1), repeated(2)), 0, 240)
  expect(op.reference(p, read, 0, 240)).toEqual(whole)
})

it('counts half with causal, and reads no key that no query sees', () => {
  const cost = (more: object) => {
    const p = op.params.parse({ batch: 2, heads: 3, seqQ: 8, headDim: 4, ...more })
    return [op.flops(p), op.bytes(p, 'f16')]
  }
  expect(cost({})).toEqual([4 * 6 * 64 * 4, 4 * 6 * 32 * 2])
  expect(cost({ causal: true })).toEqual([2 * 6 * 64 * 4, 4 * 6 * 32 * 2])
  expect(cost({ causal: true, seqK: 16 })).toEqual([2 * 6 * 64 * 4, 4 * 6 * 32 * 2])
  expect(op.params.safeParse({ ...size, heads: 4, kvHeads: 3 }).error!.issues[0]!.message).toBe('kvHeads (3) must divide heads (4)')
})
