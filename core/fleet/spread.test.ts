import { expect, test } from 'vitest'
import { blockOf, rowAt } from '../session/rows'
import { testCase, testGpu, testResult } from '../testing'
import { cardSpread } from './spread'

const devices = ['n1/cuda:0', 'n1/cuda:1', 'n2/cuda:0', 'n3/cuda:0'].map((id) => testGpu({ id, host: id.slice(0, 2), name: id.startsWith('n3') ? 'Another GPU' : 'Test GPU' }))
const result = (id: string, device: string, medianNs: number, status: 'ok' | 'wrong' = 'ok') => testResult({ id, status, case: testCase({ backend: 'cuda', device, impl: 'kernel', threads: undefined }), summary: { count: 3, medianNs } })

test('cards of one model are compared over machines, with an interval over the cards', () => {
  const results = [result('a', 'n1/cuda:0', 100), result('b', 'n1/cuda:1', 104), result('c', 'n2/cuda:0', 108), result('d', 'n3/cuda:0', 500), result('e', 'n2/cuda:0', 1, 'wrong')]
  const block = blockOf(results, 0)
  const [spread, ...others] = cardSpread(results.map((_, i) => rowAt(block, i)), devices)
  expect(others).toEqual([])
  expect(spread).toMatchObject({ model: 'Test GPU', meanNs: 104, case: { device: 'cuda' } })
  expect(spread!.cards.map(({ machine, device }) => [machine, device])).toEqual([['n1', 'n1/cuda:0'], ['n1', 'n1/cuda:1'], ['n2', 'n2/cuda:0']])
  // Standard deviation 4 over 3 cards; Student's t of 2 degrees at 97.5 % is 4.3027.
  expect(spread!.deviation).toBeCloseTo(4 / 104, 10)
  expect(spread!.ciNs).toBeCloseTo((4.302652729911275 * 4) / Math.sqrt(3), 6)
  expect(spread!.range).toBeCloseTo(0.08, 10)
})

test('one card alone has no spread, and repeats of a card count as one', () => {
  const results = [result('a', 'n1/cuda:0', 100), result('b', 'n1/cuda:0', 110), result('c', 'n2/cuda:0', 105)]
  const block = blockOf(results, 0)
  const rows = results.map((_, i) => rowAt(block, i))
  expect(cardSpread(rows.slice(0, 2), devices)).toEqual([])
  expect(cardSpread(rows, devices)[0]).toMatchObject({ meanNs: 105, deviation: 0, range: 0, ciNs: 0 })
})

test('a card that two machines have is one card', () => {
  const uuid = (value: string) => ({ facts: [{ name: 'UUID', value }] })
  const reached = [testGpu({ id: 'a/cuda:0', host: 'a', ...uuid('GPU-1') }), testGpu({ id: 'b/cuda:0', host: 'b', ...uuid('GPU-1') }), testGpu({ id: 'c/cuda:0', host: 'c', ...uuid('GPU-2') })]
  const results = [result('a', 'a/cuda:0', 100), result('b', 'b/cuda:0', 104), result('c', 'c/cuda:0', 106)]
  const block = blockOf(results, 0)
  const [spread] = cardSpread(results.map((_, i) => rowAt(block, i)), reached)
  expect(spread!.cards).toEqual([{ machine: 'a', device: 'a/cuda:0', medianNs: 102 }, { machine: 'c', device: 'c/cuda:0', medianNs: 106 }])
})
