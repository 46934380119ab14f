import { expect, it } from 'vitest'
import type { KnownCeiling } from '@core/roofline/ceilings'
import { testResult } from '@core/testing'
import { ceilingRows, launchFigures } from './device-figures'

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
