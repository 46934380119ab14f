import { expect, it } from 'vitest'
import { blockOf } from '@core/session/rows'
import { testCase, testDevice, testResult } from '@core/testing'
import type { Ceiling } from '@core/session/types'
import { efficiencyFrom, cellOf } from './cell'
import { ResultRows } from '../../../stores/rows/result-rows'
import { COLUMNS, findColumn } from './columns'
import { rowOrder } from '../row-order'

const noEfficiency = efficiencyFrom([])
const at = (impl: string, medianNs: number, change = {}) => testResult({ id: `${impl}${medianNs}`, case: testCase({ impl, ...(impl === 'pytorch' ? { backend: 'trueno', threads: undefined } : {}) }), summary: { medianNs }, ...change })
const rowsOf = (...results: ReturnType<typeof testResult>[]) => {
  const rows = new ResultRows()
  rows.append(blockOf(results, 0))
  return rows
}
const cell = (id: string, rows: ResultRows, row: number, efficiency = noEfficiency) => {
  const column = COLUMNS.find((c) => c.id === `rating-${id}`)!
  return cellOf({ column, width: column.width, unit: { name: '', size: 1 } }, rows, row, efficiency)
}

it('rates against PyTorch of the same session, and a row that comes later counts', () => {
  const rows = rowsOf(at('avx2', 100), at('scalar', 900))
  expect(cell('genesis', rows, 0)).toMatchObject({ text: '–', hover: expect.stringContaining('PyTorch for the same work') as string })
  rows.append(blockOf([at('pytorch', 100)], 2))
  expect([0, 1].map((row) => cell('genesis', rows, row).text)).toEqual(['excellent', 'needs work'])
  expect(cell('genesis', rows, 2).hover).toBe('This is PyTorch, which others are rated against.')
})

it('rates by interleaved rounds where both were measured in them, as the speedup beside it does', () => {
  const inRounds = (ratio: number) => ({ samplesNs: [100 * ratio, 100 * ratio], rounds: { group: 7, numbers: [0, 1], firstSamples: [0, 1], firstRounds: [0] } })
  const rows = rowsOf(at('avx2', 100, inRounds(1)), at('pytorch', 1000, inRounds(0.3)))
  expect(cell('genesis', rows, 0).text).toBe('fair')
  const speedup = findColumn('speedup')!
  expect(cellOf({ column: speedup, width: 90, unit: { name: '', size: 1 } }, rows, 0, noEfficiency).text).toBe('0.300x')
})

it('sorts by how good, not by the words', () => {
  const rows = rowsOf(at('a', 120), at('b', 1000), at('c', 200), at('pytorch', 100))
  const order = rowOrder(rows, { quick: '', filters: {}, sorts: [{ column: 'rating-genesis', descending: true }] }, noEfficiency, () => ({ name: '', size: 1 }))
  expect([...order].map((row) => rows.case(row).impl)).toEqual(['a', 'c', 'b', 'pytorch'])
})

it('rates the bandwidth by the measured copy of the device', () => {
  const copy: Ceiling = { backend: 'cpu', device: 'cpu', deviceName: testDevice().name, kind: 'copy', value: 480e9, unit: 'bytes/s', measuredAt: '', result: testResult() }
  // 12,000 bytes in 100 ns are 120 GB/s of 480.
  expect(cell('performance-guide', rowsOf(testResult()), 0, efficiencyFrom([copy])).text).toBe('target met (25 %, small sizes)')
  expect(cell('performance-guide', rowsOf(testResult()), 0).hover).toContain('ceilings')
})

it('a result that is not right has its own reason', () => {
  expect(cell('trueno', rowsOf(testResult({ status: 'wrong', message: 'differs' })), 0)).toMatchObject({ text: '–', hover: 'differs' })
})
