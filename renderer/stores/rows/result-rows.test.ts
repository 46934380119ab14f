import { testResult } from '@core/testing'
import { describe, expect, it } from 'vitest'
import type { BenchmarkCase } from '@core/case'
import { ROW_NUMBERS, emptyBlock, type RowBlock } from '@core/session/rows'
import { efficiencyFrom } from '../../components/results-table/columns/cell'
import { rowOrder, sortKeys, type Query } from '../../components/results-table/row-order'
import { COLUMNS } from '../../components/results-table/columns/columns'
import { ResultRows } from './result-rows'

const caseOf = (i: number): BenchmarkCase => ({ op: i % 3 ? 'gelu' : 'add', params: { n: 2 ** (10 + (i % 16)) }, dtype: 'f32', backend: i % 2 ? 'cpu' : 'cuda', impl: i % 2 ? 'avx2' : 'kernel', device: i % 2 ? 'cpu' : 'cuda:0', mode: 'hot' })

function block(first: number, count: number, median = (i: number) => ((i * 7919) % 100_003) + 1): RowBlock {
  const b = emptyBlock(count, first)
  for (let i = 0; i < count; i++) {
    b.ids[i] = `r${first + i}`
    b.cases[i] = caseOf(first + i)
    b.caseOf[i] = i
    b.status[i] = (first + i) % 50 === 49 ? 2 : 0
    b.grade[i] = 1 + ((first + i) % 3)
    b.numbers.medianNs[i] = median(first + i)
    b.numbers.bytes[i] = 8000
    b.numbers.flops[i] = 1000
  }
  if (count > 1) b.messages[1] = `message of ${first + 1}`
  return b
}

const query = (part: Partial<Query>): Query => ({ quick: '', filters: {}, sorts: [], ...part })
const noEfficiency = efficiencyFrom([])
const one = () => ({ name: '', size: 1 })

describe('ResultRows', () => {
  it('gives back every row of the blocks it was fed, across growth', () => {
    const rows = new ResultRows()
    for (let first = 0; first < 1000; first += 7) rows.append(block(first, Math.min(7, 1000 - first)))
    expect(rows.length).toBe(1000)
    for (const i of [0, 6, 7, 63, 64, 65, 500, 999]) {
      expect(rows.id(i)).toBe(`r${i}`)
      expect(rows.row(i)).toMatchObject({ id: `r${i}`, case: caseOf(i), medianNs: ((i * 7919) % 100_003) + 1, bytes: 8000 })
      expect(rows.indexOf(`r${i}`)).toBe(i)
    }
    expect(rows.message(8)).toBe('message of 8')
    expect(rows.message(9)).toBeUndefined()
    expect(rows.column('medianNs')).toHaveLength(1000)
  })

  it('leaves absent numbers out of a row', () => {
    const rows = new ResultRows()
    rows.append(block(0, 1))
    expect(Object.keys(rows.row(0)).filter((key) => (ROW_NUMBERS as readonly string[]).includes(key)).sort()).toEqual(['bytes', 'flops', 'medianNs'])
  })

  it('keeps rows where room was made for all that will come, and numbers that the first blocks did not have', () => {
    const rows = new ResultRows()
    const without = ({ numbers: { bytes: _, ...numbers }, ...rest }: RowBlock) => ({ ...rest, numbers })
    rows.expect(300)
    rows.append(without(block(0, 100)))
    rows.append(block(100, 100))
    rows.append(without(block(200, 100)))
    expect(Array.from(rows.column('medianNs'))).toEqual(Array.from({ length: 300 }, (_, i) => ((i * 7919) % 100_003) + 1))
    expect([99, 100, 199, 200].map((i) => rows.number(i, 'bytes'))).toEqual([NaN, 8000, 8000, NaN])
    rows.append(block(300, 1))
    expect(rows.length).toBe(301)
  })

  it('takes only the new part of a block that overlaps, and none of one that leaves a gap', () => {
    const rows = new ResultRows()
    rows.append(block(0, 10))
    expect(rows.append(block(5, 10))).toBe(true)
    expect(rows.length).toBe(15)
    expect(Array.from({ length: 15 }, (_, i) => rows.id(i))).toEqual(Array.from({ length: 15 }, (_, i) => `r${i}`))
    const version = rows.version
    expect(rows.append(block(20, 5))).toBe(false)
    expect(rows.append(block(0, 10))).toBe(true)
    expect(rows.length).toBe(15)
    expect(rows.version).toBe(version)
  })
})

describe('rowOrder on 100,000 rows', () => {
  const rows = new ResultRows()
  rows.append(block(0, 60_000))
  rows.append(block(60_000, 40_000))

  it('sorts by several columns as comparing row by row would', () => {
    const order = rowOrder(rows, query({ sorts: [{ column: 'op', descending: true }, { column: 'median', descending: false }] }), noEfficiency, one)
    const expected = Array.from({ length: rows.length }, (_, i) => i).sort((a, b) => rows.case(b).op.localeCompare(rows.case(a).op) || rows.number(a, 'medianNs') - rows.number(b, 'medianNs'))
    expect([...order]).toEqual(expected)
  })

  it('filters by words and bounds together', () => {
    const order = rowOrder(rows, query({ quick: 'gelu cuda', filters: { median: '< 500', status: 'ok' } }), noEfficiency, one)
    const expected = Array.from({ length: rows.length }, (_, i) => i).filter((i) => rows.case(i).op === 'gelu' && rows.case(i).backend === 'cuda' && rows.number(i, 'medianNs') < 500 && rows.status(i) === 'ok')
    expect(expected.length).toBeGreaterThan(10)
    expect([...order]).toEqual(expected)
  })

  it('orders shapes by size, not by their letters', () => {
    const shape = COLUMNS.find((column) => column.id === 'shape')!
    const keys = sortKeys(shape, rows, noEfficiency)
    expect(keys[15]).toBeGreaterThan(keys[1]!)
    const order = rowOrder(rows, query({ sorts: [{ column: 'shape', descending: true }] }), noEfficiency, one)
    expect(rows.case(order[0]!).params.n).toBe(2 ** 25)
  })

  it('reads number filters in the unit of the column', () => {
    const inMicroseconds = rowOrder(rows, query({ filters: { median: '>= 99' } }), noEfficiency, (id) => ({ name: '', size: id === 'median' ? 1000 : 1 }))
    expect(inMicroseconds.length).toBeGreaterThan(0)
    expect([...inMicroseconds].every((i) => rows.number(i, 'medianNs') >= 99_000)).toBe(true)
  })
})

describe('efficiency', () => {
  const rows = new ResultRows()
  rows.append(block(0, 50, () => 10))
  const ceiling = (kind: string, value: number) => ({ backend: 'cuda', device: 'cuda:0', deviceName: 'GPU', kind, value, unit: kind === 'copy' ? ('bytes/s' as const) : ('FLOP/s' as const), measuredAt: '', result: testResult({ summary: undefined }) })

  it('is the roofline time over the measured one', () => {
    // 8000 bytes at 1000 bytes/ns take 8 of the 10 ns; 1000 FLOP at 1000 FLOP/ns only 1.
    expect(efficiencyFrom([ceiling('copy', 1e12), ceiling('flops:f32', 1e12)])(rows, 0)).toBeCloseTo(0.8)
    // At 105 FLOP/ns arithmetic takes 9.5 ns and is the roof.
    expect(efficiencyFrom([ceiling('copy', 1e12), ceiling('flops:f32', 1000e9 / 9.5)])(rows, 0)).toBeCloseTo(0.95)
  })

  it('is absent without a ceiling and for results that are not ok', () => {
    expect(efficiencyFrom([])(rows, 0)).toBeNaN()
    expect(efficiencyFrom([ceiling('copy', 1e12)])(rows, 1)).toBeNaN()
    expect(efficiencyFrom([ceiling('copy', 1e12)])(rows, 49)).toBeNaN()
  })
})
