import { expect, test } from 'vitest'
import { testCell, testComparison } from '../testing'
import { answerOf, answersOf, meanWords, slowerTitle } from './answer'

const sessions = ['A', 'B'].map((name) => ({ id: name, name, createdAt: '2026-01-01T00:00:00Z' }))
const comparison = testComparison([[{ op: 'add' }, testCell(0.8, 'faster')], [{ op: 'gelu' }, testCell(0.9, 'faster')], [{ op: 'sum' }, testCell(1.1, 'slower')], [{ op: 'mul' }, testCell(1, 'ambiguous')]], { sessions })

test('one sentence says which is faster, by how much, over how many cases, and how the verdicts are', () => {
  expect(answerOf(comparison, 1).sentence).toBe('B is 1.06x faster than A (geometric mean over 4 cases, 95 % CI 1.05x to 1.07x): 2 faster, 1 slower, 0 same, 1 unclear.')
  expect(answersOf(comparison, (side) => 'XY'[side]!)[0]!.sentence).toMatch(/^Y is 1\.06x faster than X /)
})

test('a slower side is said to be slower, with the interval of that figure', () => {
  const slower = testComparison([[{}, testCell(2, 'slower')]], { sessions })
  expect(answerOf(slower, 1).sentence).toBe('B is 2.00x slower than A (geometric mean over 1 case, 95 % CI 1.98x to 2.02x): 0 faster, 1 slower, 0 same, 0 unclear.')
  expect(answerOf(testComparison([[{}, testCell(1, 'same')]], { sessions }), 1).relation).toBe('as fast as')
})

test('a mean has the digits of a narrow interval, so that it lies within it', () => {
  expect(meanWords({ ratio: 1.2168, low: 1.2161, high: 1.2174 })).toBe('1.217x faster')
  expect(meanWords({ ratio: 1 / 1.2168, low: 1 / 1.2174, high: 1 / 1.2161 })).toBe('1.217x slower')
  expect(meanWords({ ratio: 1.2165, low: 1.19, high: 1.25 })).toBe('1.22x faster')
  expect(meanWords({ ratio: 1.0001, low: 1.00005, high: 1.0002 })).toBe('as fast')
})

test('a mean whose interval holds 1 does not say which side is faster', () => {
  const open = testComparison([[{}, testCell(1 / 1.04, 'ambiguous', { speedupLow: 0.998, speedupHigh: 1.06 })]], { sessions })
  expect(answerOf(open, 1).sentence).toBe('B is not clearly faster or slower than A (geometric mean 1.040x over 1 case, 95 % CI 0.998x to 1.060x): 0 faster, 0 slower, 0 same, 1 unclear.')
  expect(meanWords({ ratio: 0.9, low: 0.5, high: 1.5 })).toBe('not clearly faster or slower')
  expect(meanWords({ ratio: 1.001, low: 0.99, high: 1.01 })).toBe('as fast')
})

test('sides without a common case have no answer but that', () => {
  expect(answerOf(testComparison([[{}, null]], { sessions }), 1)).toMatchObject({ sentence: 'B and A have no case in common.', cases: 0 })
})

test('only versions of the same thing can regress', () => {
  expect(slowerTitle({ versions: true })).toBe('Regressions')
  expect(slowerTitle(comparison)).toBe('Slower cases')
})
