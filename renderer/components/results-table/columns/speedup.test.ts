import { expect, it } from 'vitest'
import { sessionAnswer } from '@core/analysis/answer/answer'
import { blockOf } from '@core/session/rows'
import { testCase, testDevice, testResult } from '@core/testing'
import { efficiencyFrom, cellOf, tsv } from './cell'
import { ResultRows } from '../../../stores/rows/result-rows'
import { findColumn } from './columns'
import { rowOrder } from '../row-order'
import { autoBaselineTitle } from '@core/analysis/baseline'
import { autoOf, preferImpls } from './speedup'

const noEfficiency = efficiencyFrom([])
const at = (backend: string, impl: string, device: string, medianNs: number, change = {}) => testResult({ id: `${impl}${device}`, case: testCase({ backend, impl, device, threads: undefined }), summary: { medianNs, ciLowNs: medianNs * 0.99, ciHighNs: medianNs * 1.01 }, ...change })
function rowsOf(...results: ReturnType<typeof testResult>[]) {
  const rows = new ResultRows()
  rows.append(blockOf(results, 0))
  return rows
}
const shown = (id: string, rows: ResultRows) => {
  const column = findColumn(id)!
  return { column, width: 90, unit: { name: '', size: 1 }, title: column.head!(rows) }
}
const rows = rowsOf(at('cpu', 'scalar', 'cpu', 800), at('cpu', 'avx2', 'cpu', 100), at('python', 'torch', 'python:cpu', 200), at('cpu', 'sse2', 'cpu', 100, { status: 'wrong', message: 'differs' }))

it('compares with PyTorch where it is, with the interval on hover, and says why where it cannot', () => {
  const speedup = shown('speedup', rows)
  const cells = [0, 1, 2, 3].map((row) => cellOf(speedup, rows, row, noEfficiency))
  expect(speedup.title).toBe('vs PyTorch')
  expect(cells.map(({ text }) => text)).toEqual(['0.250x', '2.000x', '–', '–'])
  expect(cells[1]!.hover).toMatch(/95 % CI 1\.972x to 2\.028x; baseline 200\S* ns, python torch on python:cpu/)
  expect([cells[2]!.hover, cells[3]!.hover]).toEqual(['This is the baseline itself.', 'differs'])
})

it('follows rows as they come, with the baseline that all of them have', () => {
  const growing = rowsOf(at('cpu', 'scalar', 'cpu', 800), at('cpu', 'avx2', 'cpu', 100))
  const cells = () => [0, 1].map((row) => cellOf(shown('speedup', growing), growing, row, noEfficiency).text)
  expect(cells()).toEqual(['–', '8.000x'])
  growing.append(blockOf([at('python', 'torch', 'python:cpu', 200)], 2))
  expect(cells()).toEqual(['0.250x', '2.000x'])
  expect(cellOf(shown('speedup:cpu/scalar', growing), growing, 2, noEfficiency).text).toBe('4.000x')
})

it('takes another baseline, sorts by it and copies it with its interval', () => {
  const order = rowOrder(rows, { quick: '', filters: {}, sorts: [{ column: 'speedup:cpu/scalar', descending: true }] }, noEfficiency, () => ({ name: '', size: 1 }))
  expect([...order].slice(0, 2).map((row) => rows.case(row).impl)).toEqual(['avx2', 'torch'])
  const [head, line] = tsv([shown('speedup:cpu/scalar', rows)], rows, [1], noEfficiency).split('\n')
  expect(head).toBe('vs cpu scalar\tvs cpu scalar, low\tvs cpu scalar, high')
  expect(line!.split('\t').map((text) => Number(text).toFixed(2))).toEqual(['8.00', '7.89', '8.11'])
})

it('dims what a grade C makes unreliable, on either side', () => {
  const graded = rowsOf(at('cpu', 'scalar', 'cpu', 800, { grade: 'C' }), at('cpu', 'avx2', 'cpu', 100, { grade: 'A' }), at('cpu', 'sse2', 'cpu', 200, { grade: 'C' }), at('cpu', 'avx512', 'cpu', 50, { grade: 'B' }))
  const of = (key: string) => [0, 1, 2, 3].map((row) => cellOf(shown(`speedup:cpu/${key}`, graded), graded, row, noEfficiency))
  expect(of('avx2').map(({ dim }) => dim ?? false)).toEqual([true, false, true, false])
  expect(of('scalar')[3]).toMatchObject({ dim: true, hover: expect.stringContaining('Unreliable: grade C of the baseline.') as string })
})

it('looks anew when PyTorch is measured later', () => {
  const late = rowsOf(at('cpu', 'scalar', 'cpu', 800), at('cpu', 'avx2', 'cpu', 100))
  expect(cellOf(shown('speedup', late), late, 1, noEfficiency).text).toBe('8.000x')
  late.append(blockOf([at('python', 'torch', 'python:cpu', 50)], 2))
  expect(cellOf(shown('speedup', late), late, 1, noEfficiency).text).toBe('0.500x')
})

it('says what a grade means and why a CI has no width', () => {
  const equal = rowsOf(at('cpu', 'scalar', 'cpu', 800, { grade: 'C', summary: { medianNs: 800, ciLowNs: 800, ciHighNs: 800 } }))
  const cell = (id: string) => cellOf({ column: findColumn(id)!, width: 90, unit: { name: '', size: 1 } }, equal, 0, noEfficiency)
  expect(cell('grade')).toMatchObject({ text: 'C', hover: expect.stringContaining('not converged') as string })
  const reasoned = rowsOf(at('cpu', 'scalar', 'cpu', 800, { grade: 'C', gradeReasons: ['Throttled: power limit in 12 of 40.', 'Noisy.'] }))
  expect(cellOf({ column: findColumn('grade')!, width: 90, unit: { name: '', size: 1 } }, reasoned, 0, noEfficiency).hover).toBe('C: Throttled: power limit in 12 of 40. Noisy.')
  expect(cell('ci').hover).toContain('tick of the timer')
})

it('chooses the baseline of the answer and the charts: what shares the most cases, not what a device prefers or what comes first', () => {
  const case_ = (backend: string, impl: string, mode: 'hot' | 'cold') => testResult({ id: `${impl} ${mode}`, case: testCase({ backend, impl, device: 'cpu', mode, threads: undefined }) })
  const rows = rowsOf(case_('cpu', 'scalar', 'hot'), case_('cpu', 'avx2', 'hot'), case_('cpu', 'avx2', 'cold'), case_('cpu', 'sse2', 'cold'))
  preferImpls(rows, [testDevice({ impls: testDevice().impls.map((impl) => ({ ...impl, preferred: impl.id === 'scalar' })) })])
  expect(findColumn('speedup')!.head!(rows)).toBe('vs cpu avx2')
  expect(sessionAnswer(Array.from({ length: rows.length }, (_, i) => ({ case: rows.case(i), medianNs: rows.number(i, 'medianNs') })), undefined).processors.map(({ baseline }) => baseline)).toEqual([{ backend: 'cpu', impl: 'avx2' }])
})

it('compares results with a baseline on their own kind of processor, and says where it has to be another kind', () => {
  const both = rowsOf(at('cpu', 'scalar', 'cpu', 800), at('cpu', 'avx2', 'cpu', 100), at('cuda', 'kernel', 'cuda:0', 10), at('webgpu', 'wgsl', 'webgpu:0', 20))
  const cells = [0, 1, 2, 3].map((row) => cellOf(shown('speedup', both), both, row, noEfficiency))
  expect(shown('speedup', both).title).toBe('vs baseline')
  expect(autoBaselineTitle(autoOf(both))).toBe('GPU cuda kernel, CPU cpu scalar')
  expect(cells[1]).toMatchObject({ text: '8.000x', hover: expect.stringMatching(/cpu scalar on cpu$/) as string })
  expect(cells[3]).toMatchObject({ text: '0.500x', hover: expect.stringMatching(/cuda kernel on cuda:0$/) as string })
  const alone = rowsOf(at('cpu', 'avx2', 'cpu', 100), at('cuda', 'kernel', 'cuda:0', 10), at('webgpu', 'wgsl', 'webgpu:0', 20))
  expect(shown('speedup', alone).title).toBe('vs cuda kernel')
  expect(autoBaselineTitle(autoOf(alone))).toBe('cuda kernel')
  expect(cellOf(shown('speedup', alone), alone, 0, noEfficiency)).toMatchObject({ text: '0.100x', hover: expect.stringContaining('another kind of processor') as string })
})
