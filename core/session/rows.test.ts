import { expect, test } from 'vitest'
import { testCase, testResult } from '../testing'
import { blockOf, packBlock, rowAt, unpackBlock } from './rows'

test('a packed block unpacks to the same rows', () => {
  const results = [testResult({ id: 'a' }), testResult({ id: 'b', case: testCase({ dtype: 'f16' }) }), testResult({ id: 'line\nbreak', status: 'failed', message: 'gone' })]
  const block = blockOf(results, 7)
  const again = unpackBlock(structuredClone(packBlock(block)))
  expect(again.first).toBe(7)
  expect(again.ids.map((_, i) => rowAt(again, i))).toEqual(results.map((_, i) => rowAt(block, i)))
})
