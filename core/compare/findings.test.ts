import { expect, test } from 'vitest'
import { testCase } from '../testing'
import { failuresOf, findingsOf } from './findings'
import { testCell, testComparison } from './testing'

const comparison = testComparison(
  [
    [{ op: 'add' }, testCell(1.05, 'slower')],
    [{ op: 'softmax' }, testCell(1.2, 'slower')],
    [{ op: 'gelu' }, testCell(0.5, 'faster')],
    [{ op: 'gelu', dtype: 'bf16' }, testCell(0.4, 'faster')],
    [{ op: 'sum' }, testCell(1.4, 'ambiguous')],
  ],
  {
    opThresholds: { softmax: 0.1 },
    unmatched: [
      { sessionId: 's2', case: testCase({ op: 'matmul' }), reason: 'Left out: its result is “wrong”.', status: 'wrong' },
      { sessionId: 's1', case: testCase({ op: 'matmul' }), reason: 'Left out: its result is “wrong”.', status: 'wrong', baseline: true },
    ],
  },
)

test('regressions come with their operation’s threshold, the largest effect first', () => {
  expect(findingsOf(comparison, 'slower').map(({ row, threshold }) => [row.case.op, threshold])).toEqual([['softmax', 0.1], ['add', 0.01]])
  expect(findingsOf(comparison, 'faster').map(({ cell }) => cell.speedup)).toEqual([2.5, 2])
})

test('a comparison fails on what it was asked to, and on nothing else', () => {
  expect(failuresOf(comparison, ['slower'])).toEqual([{ what: 'slower', cases: 2 }])
  // A result that was wrong in the baseline already is no regression.
  expect(failuresOf(comparison, ['wrong', 'ambiguous'])).toEqual([{ what: 'wrong', cases: 1 }, { what: 'ambiguous', cases: 1 }])
  expect(failuresOf(testComparison([[{}, testCell(1, 'ambiguous')]]), ['slower', 'faster', 'wrong'])).toEqual([])
})
