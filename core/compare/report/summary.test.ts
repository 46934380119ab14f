import { expect, test } from 'vitest'
import { testCase } from '../../testing'
import { groupRows, failuresOf, findingsOf } from './summary'
import { testCell, testComparison } from '../testing'

const { rows } = testComparison([
  [{ op: 'softmax', params: { rows: 4096, cols: 4096 } }, testCell(2, 'slower')],
  [{ op: 'add', params: { n: 1 << 20 } }, testCell(0.5, 'faster')],
  [{ op: 'softmax', params: { rows: 512, cols: 512 } }, testCell(0.5, 'faster')],
  [{ op: 'softmax', params: { rows: 512, cols: 512 }, dtype: 'bf16' }, null],
  [{ op: 'their own benchmark', params: { batch: 8 } }, testCell(1, 'same')],
])

test('a group has the geometric mean of its own speedups, the cases behind it and their verdicts', () => {
  const [softmax, add] = groupRows(rows, 'op', 2)
  expect(softmax).toMatchObject({ key: 'softmax', sides: [null, { speedup: 1, cases: 2, counts: { faster: 1, slower: 1, same: 0, ambiguous: 0 } }] })
  expect(softmax!.rows).toHaveLength(3)
  expect(add).toMatchObject({ key: 'add', sides: [null, { speedup: 2, cases: 1 }] })
})

test('operations of other tools are a family of their own', () => {
  expect(groupRows(rows, 'family', 2).map(({ key }) => key)).toEqual(['softmax', 'binary', 'other'])
})

test('sizes ascend, whatever was measured first', () => {
  expect(groupRows(rows, 'size', 2).map(({ key }) => key)).toEqual(['batch=8', '512x512', '1Mi', '4096x4096'])
})

test('a side that has no case of a group has no mean', () => {
  const [only] = groupRows([rows[3]!], 'op', 2)
  expect(only!.sides[1]).toEqual({ cases: 0, counts: { faster: 0, slower: 0, same: 0, ambiguous: 0 } })
})

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
