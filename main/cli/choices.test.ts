import { expect, test } from 'vitest'
import { editDistance, nearest, pickList } from './choices'
import { UsageError } from './usage-error'

const OPS = ['softmax', 'layer_norm', 'matmul', 'sum'] as const

test('a list names choices, in the order given and each once', () => {
  expect(pickList('operation', ' layer_norm, softmax,softmax', OPS)).toEqual(['layer_norm', 'softmax'])
  expect(pickList('operation', 'all', OPS)).toEqual([...OPS])
})

test('a wrong word is answered with the nearest choice and all of them', () => {
  expect(() => pickList('operation', 'sofmax', OPS)).toThrow('unknown operation "sofmax". Did you mean "softmax"? Choose from: softmax, layer_norm, matmul, sum.')
  expect(() => pickList('operation', 'zzzzz', OPS)).toThrow('unknown operation "zzzzz". Choose from')
  expect(() => pickList('operation', ' , ', OPS)).toThrow(UsageError)
})

test('nearness counts swaps once and knows beginnings', () => {
  expect(editDistance('matmlu', 'matmul')).toBe(1)
  expect(editDistance('', 'abc')).toBe(3)
  expect(nearest('layer', OPS)).toBe('layer_norm')
  expect(nearest('SUM', OPS)).toBe('sum')
  expect(nearest('x', OPS)).toBeUndefined()
})
