import { expect, test } from 'vitest'
import type { SessionSummary } from '@core/session/types'
import { editDistance, nearest, pickList, UsageError, findSession } from './choices'

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

const session = (id: string, name: string, day: number): SessionSummary => ({
  id, name, createdAt: `2026-01-0${day}T00:00:00.000Z`, notes: '', tags: [], state: 'done', planned: 1, results: 1, failures: 0, ops: [], devices: [],
})
const all = [session('ab12', 'softmax · cpu', 1), session('ab34', 'twice', 3), session('cd56', 'twice', 2)]

test('a session is found by id, beginning of an id, name, or as the last one', () => {
  expect(findSession('ab12', all).id).toBe('ab12')
  expect(findSession('c', all).id).toBe('cd56')
  expect(findSession('softmax · cpu', all).id).toBe('ab12')
  expect(findSession('last', all).id).toBe('ab34')
})

test('what fits several or none is refused with what would fit', () => {
  expect(() => findSession('ab', all)).toThrow(/fits 2 sessions: ab34 .*ab12/)
  expect(() => findSession('twice', all)).toThrow(/fits 2 sessions/)
  expect(() => findSession('softmx · cpu', all)).toThrow('Did you mean "softmax · cpu"?')
  expect(() => findSession('', [all[0]!])).toThrow(/no session given/)
  expect(() => findSession('last', [])).toThrow(/no session yet/)
})
