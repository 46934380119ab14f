import { expect, it } from 'vitest'
import { givenInputs } from '../testing'
import op from './op'

const size = { tokens: 2, heads: 1, headDim: 4 }
// token 0 is not turned, token 1 by a quarter and a half turn
const read = givenInputs([1, 2, 3, 4, 1, 2, 3, 4], [1, 1, 0, -1], [0, 0, 1, 0])

it('turns the pairs of both layouts as worked out by hand', () => {
  expect(Array.from(op.reference(op.params.parse(size), read, 0, 8))).toEqual([1, 2, 3, 4, -3, -2, 1, -4])
  expect(Array.from(op.reference(op.params.parse({ ...size, interleaved: true }), read, 0, 8))).toEqual([1, 2, 3, 4, -2, 1, -3, -4])
})

it('refuses an odd head', () => expect(op.params.safeParse({ tokens: 1, heads: 1, headDim: 3 }).error!.issues[0]!.message).toBe('headDim (3) must be even'))
