import { expect, it } from 'vitest'
import { tensorsOf } from '../define'
import { givenInputs } from '../testing'
import op from './op'

const counted = (n: number) => Array.from({ length: n }, (_, i) => i)

it('splits the features of tokens into heads, each third a view', () => {
  const p = op.params.parse({ batch: 1, heads: 2, seq: 2, headDim: 2, views: 3 })
  expect(tensorsOf(op, p, 'f16').map(({ name, elements }) => [name, elements])).toEqual([['x', 24], ['out0', 8], ['out1', 8], ['out2', 8]])
  const read = givenInputs(counted(24))
  expect([...op.reference(p, read, 0, 8, 0)]).toEqual([0, 1, 12, 13, 2, 3, 14, 15])
  expect([...op.reference(p, read, 4, 4, 2)]).toEqual([10, 11, 22, 23])
})

it('joins heads by other strides', () => {
  // As [batch, seq, heads, headDim] of [batch, heads, seq, headDim].
  const p = op.params.parse({ batch: 1, heads: 3, seq: 2, headDim: 1, batchStride: 6, headStride: 1, tokenStride: 3, elements: 6 })
  expect([...op.reference(p, givenInputs(counted(6)), 0, 6, 0)]).toEqual([0, 3, 1, 4, 2, 5])
})

it('refuses views beyond x, and more than one call copies', () => {
  const message = (params: object) => op.params.safeParse({ batch: 1, heads: 2, seq: 2, headDim: 2, ...params }).error?.issues[0]?.message
  expect(message({ elements: 7 })).toBe('the views reach element 7, and x has 7')
  expect(message({ elements: 8 })).toBeUndefined()
  expect(message({ views: 4 })).toBe('views (4) must be at most 3')
})
