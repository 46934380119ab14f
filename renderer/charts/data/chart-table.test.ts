import { expect, it } from 'vitest'
import { csvTable } from '@core/csv'
import { chartTable } from './chart-table'

it('has units in its headings, and numbers rounded as in tooltips in one unit a quantity', () => {
  const csv = csvTable(['series', 'size_elements', 'median_ns', 'ci_low_ns', 'ci_high_ns', 'samples'], [['=cold', 16384, 23712.333, 21504.91, 27900.2, 46], ['hot', 1024, 985.4, undefined, undefined, 9170], ['hot', 65536, 41000, 40900, 41200.77, 31]])
  const { columns, rows } = chartTable(csv, 10)
  expect(columns.map(({ title }) => title)).toEqual(['Series', 'Size (elements)', 'Median (µs)', 'CI low (µs)', 'CI high (µs)', 'Samples'])
  expect(columns.map(({ numeric }) => numeric)).toEqual([false, true, true, true, true, true])
  expect(rows).toEqual([['=cold', '16,384', '23.7', '21.5', '27.9', '46'], ['hot', '1,024', '0.985', '', '', '9,170'], ['hot', '65,536', '41.0', '40.9', '41.2', '31']])
})

it('says ratios and shares with their signs in the heading, and counts the rows it leaves out', () => {
  const { columns, rows, all } = chartTable(csvTable(['case', 'speedup', 'efficiency', 'flop_per_byte'], [['a', 1.23456, 0.5, 1 / 3], ['b', 2, 0.25, 4]]), 1)
  expect(columns.map(({ title }) => title)).toEqual(['Case', 'Speedup (x)', 'Efficiency (%)', 'Arithmetic intensity (FLOP/B)'])
  expect([rows, all]).toEqual([[['a', '1.23', '50.0', '0.333']], 2])
})
