import { expect, test } from 'vitest'
import { groupRows } from './groups'
import { testCell, testComparison } from './testing'

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
  expect(groupRows(rows, 'size', 2).map(({ key }) => key)).toEqual(['8', '512x512', '1.05M', '4096x4096'])
})

test('a side that has no case of a group has no mean', () => {
  const [only] = groupRows([rows[3]!], 'op', 2)
  expect(only!.sides[1]).toEqual({ cases: 0, counts: { faster: 0, slower: 0, same: 0, ambiguous: 0 } })
})
