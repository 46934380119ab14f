import { expect, it } from 'vitest'
import type { KnownCeiling } from '@core/roofline/ceilings'
import { testDevice, testGpu, testResult } from '@core/testing'
import { allCeilingsHint, ceilingGroups, ceilingRows, choiceTable, launchFigures, pickedChoices } from './device-figures'

const ceiling = (kind: string, value: number, change: Partial<KnownCeiling> = {}): KnownCeiling => {
  const unit = kind.startsWith('launch') ? 's' : kind.startsWith('flops') ? 'FLOP/s' : 'bytes/s'
  const bytes = 2 ** 24
  const medianNs = unit === 's' ? value * 1e9 : (bytes / value) * 1e9
  return {
    backend: 'cuda', device: 'cuda:0', deviceName: 'NVIDIA H200', driver: '570.86', kind, value, unit, measuredAt: '2026-01-01T00:00:00Z',
    result: testResult({ bytes, flops: bytes, summary: { ...testResult().summary!, medianNs, ciLowNs: medianNs * 0.99, ciHighNs: medianNs * 1.01 } }), ...change,
  }
}
const all = [ceiling('launch:graph', 1.2e-6), ceiling('copy:65536', 9e11), ceiling('flops:bf16', 7.6e14), ceiling('cache:L2', 6e12), ceiling('copy', 4.2e12), ceiling('launch:hot', 2.13e-6)]

it('rows are the limits of memory, caches and arithmetic, with the datasheet where there is one', () => {
  const rows = ceilingRows(all)
  expect(rows.map((row) => [row.title, row.value, row.interval, row.datasheet, row.share, row.driver])).toEqual([
    ['Copy bandwidth', '4.20 TB/s', '±1.00 %', '4.80 TB/s', '87.5 %', '570.86'],
    ['L2 bandwidth', '6.00 TB/s', '±1.00 %', undefined, undefined, '570.86'],
    ['Peak bf16', '760 TFLOP/s', '±1.00 %', '989 TFLOP/s', '76.8 %', '570.86'],
  ])
})

it('a cache whose copy is mostly launch says so', () => {
  expect(ceilingRows(all)[1]!).toMatchObject({ launch: '76.2 %', note: expect.stringMatching(/16\.0 MiB in 2\.80 µs.*Launching takes 76\.2 %/) as string })
  expect(ceilingRows(all)[0]!).not.toHaveProperty('launch')
  expect(ceilingRows([ceiling('cache:L2', 6e12)])[0]!.note).not.toContain('Launching')
})

it('reading and writing alone stand after the copy, and say what was moved', () => {
  expect(ceilingRows([ceiling('write', 3e12), ceiling('read', 5e12), ...all]).slice(0, 3).map(({ title, value, note }) => [title, value, note])).toEqual([
    ['Copy bandwidth', '4.20 TB/s', 'Copy of a working set of 16.0 MiB, in and out together, beyond the caches'],
    ['Read bandwidth', '5.00 TB/s', 'Sums of rows of 16.0 MiB, beyond the caches'],
    ['Write bandwidth', '3.00 TB/s', 'Writes of a constant to 16.0 MiB, beyond the caches'],
  ])
})

it('a figure of another driver carries what changed, and its copy at hand is not altered', () => {
  const stale = 'measured under driver 550, now 570.86'
  expect(ceilingRows([ceiling('copy', 4e12, { stale, driver: '550' })])[0]).toMatchObject({ stale, driver: '550' })
  expect(all[0]!.kind).toBe('launch:graph')
})

it('launches are their own figures, back to back first', () => {
  expect(launchFigures(all).map((figure) => [figure.title, figure.value])).toEqual([['back to back', '2.13 µs'], ['in a graph', '1.20 µs']])
  expect(launchFigures([ceiling('launch:cold', 3e-6)])[0]!.title).toBe('after a flush')
  expect(launchFigures([])).toEqual([])
})

it('ceilings of single levels and thread counts are a row each, beside those of the whole device', () => {
  const groups = ceilingGroups([ceiling('copy@avx2/4', 40e9), ceiling('flops:f32@scalar/1', 8e9), ceiling('cache:L1d:read@scalar/1', 23e9), ceiling('launch:hot@avx2/4', 7e-7), ceiling('copy', 80e9), ceiling('copy@scalar/1', 9e9)])
  expect(groups.map(({ title, ceilings }) => [title, ceilings.length])).toEqual([[undefined, 1], ['scalar, 1 thread', 3], ['avx2, 4 threads', 2]])
  const table = choiceTable(groups.slice(1))
  expect(table.columns.map(({ title }) => title)).toEqual(['Copy', 'L1d read', 'Peak f32', 'Launch'])
  expect(table.rows.map(({ title, cells }) => [title, ...cells.map((cell) => cell?.value)])).toEqual([
    ['scalar, 1 thread', '9.00 GB/s', '23.0 GB/s', '8.00 GFLOP/s', undefined],
    ['avx2, 4 threads', '40.0 GB/s', undefined, undefined, '700 ns'],
  ])
  expect(table.rows[0]!.cells[0]!.hover).toBe('95 % CI ±1.00 %, measured 2026-01-01')
})

it('what is measured beside the preferred level are the choices picked in Run, or all, with the time that takes', () => {
  const streams = { stream_read: ['f32' as const], stream_write: ['f32' as const], stream_copy: ['f32' as const] }
  const device = testDevice({ impls: testDevice().impls.map((impl) => ({ ...impl, kernels: { ...impl.kernels, ...streams } })) })
  expect(pickedChoices(device, [{ backend: 'cpu', device: 'cpu', impls: ['scalar', 'avx2'], threads: [2] }, { backend: 'cuda', device: 'cuda:0', impls: ['kernel'] }])).toEqual([{ impl: 'scalar', threads: 2 }, { impl: 'avx2', threads: 2 }])
  expect(allCeilingsHint(device, [])).toMatch(/^Measures every level \(scalar, avx2\) on 1, 2, 4 threads\. Takes about \d/)
  expect(allCeilingsHint(testGpu(), [])).toBeUndefined()
})
