import { expect, it } from 'vitest'
import { blockOf } from '@core/session/rows'
import { testCase, testResult } from '@core/testing'
import { ResultRows } from '../../../stores/rows/result-rows'
import { placeColumn } from './place'

function rowsOn(...devices: string[]) {
  const rows = new ResultRows()
  rows.append(blockOf(devices.map((device, i) => testResult({ id: `r${i}`, case: testCase({ backend: 'cuda', impl: 'kernel', device, threads: undefined }) })), 0))
  return rows
}

it('rows of one case on several hosts or devices carry what tells them apart', () => {
  expect(placeColumn(rowsOn())).toBeUndefined()
  expect(placeColumn(rowsOn('cuda:0', 'cuda:0'))).toBeUndefined()
  expect(placeColumn(rowsOn('cuda:0', 'cuda:1'))).toBe('device')
  expect(placeColumn(rowsOn('n1/cuda:0', 'n2/cuda:0'))).toBe('host')
  expect(placeColumn(rowsOn('n1/cuda:0', 'n1/cuda:1', 'n2/cuda:0'))).toBe('device')
})
