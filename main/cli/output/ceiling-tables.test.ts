import { expect, test } from 'vitest'
import type { Ceiling } from '@core/session/types'
import { testResult } from '@core/testing'
import { ceilingTable, copyTable, latestPerDevice } from './ceiling-tables'

const ceiling = (kind: string, value: number, change: Partial<Ceiling> = {}): Ceiling => {
  const unit = kind.startsWith('launch') ? 's' : kind.startsWith('flops') ? 'FLOP/s' : 'bytes/s'
  const bytes = kind.startsWith('cache') ? 2 ** 24 : 2 ** 29
  const result = testResult({ bytes, summary: { ...testResult().summary!, medianNs: unit === 's' ? value * 1e9 : (bytes / value) * 1e9 } })
  return { backend: 'cuda', device: 'cuda:0', deviceName: 'NVIDIA H200', driver: '570', kind, value, unit, measuredAt: '2026-01-02T00:00:00Z', result, ...change }
}
const cpu = { backend: 'cpu', device: 'cpu', deviceName: 'EPYC', driver: undefined }

test('the table has bandwidths, peaks and launches by device, datasheets where known, and no single copies', () => {
  const lines = ceilingTable([ceiling('launch:hot', 2.13e-6), ceiling('copy:65536', 1e12), ceiling('copy', 4.2e12), ceiling('cache:L2', 6e12), ceiling('flops:f32', 6e13), ceiling('copy', 2e10, cpu)]).split('\n')
  expect(lines[0]).toMatch(/^device +name +driver +ceiling +measured +95 % CI ± +datasheet +share +when +note$/)
  expect(lines[2]).toMatch(/launching takes 76\.2 % of that copy$/)
  expect(lines[1]).not.toContain('launching')
  expect(lines.slice(1).map((line) => line.replace(/ {2,}/g, '|').split('|').slice(3, 5))).toEqual([['Copy bandwidth', '4.20 TB/s'], ['L2 bandwidth', '6.00 TB/s'], ['Peak f32', '60.0 TFLOP/s'], ['Launch, back to back', '2.13 µs'], expect.any(Array)])
  expect(lines[1]).toMatch(/4\.80 TB\/s +87\.5 %/)
  expect(lines[5]).toMatch(/^cpu +EPYC +Copy bandwidth +20\.0 GB\/s/)
})

test('of each kind the one of the newest driver is listed; what it lacks is shown from an older one and marked', () => {
  const old = { driver: '550', measuredAt: '2025-01-02T00:00:00Z' }
  const known = latestPerDevice([ceiling('copy', 4.1e12, old), ceiling('copy', 4.2e12), ceiling('flops:f32', 6e13, old), ceiling('copy', 2e10, cpu)])
  expect(known.map((c) => [c.kind, c.value, c.stale])).toEqual([['copy', 4.2e12, undefined], ['flops:f32', 6e13, 'measured under driver 550, now 570'], ['copy', 2e10, undefined]])
  expect(ceilingTable(known)).toContain('stale: measured under driver 550, now 570')
})

test('copies are listed by working set with a column per device', () => {
  const text = copyTable([ceiling('copy:32768', 3e11), ceiling('copy', 4.2e12), ceiling('copy:65536', 9e9, cpu), ceiling('copy:32768', 8e9, cpu)])!
  expect(text.split('\n').map((line) => line.trim())).toEqual([
    expect.stringMatching(/^working set +cuda:0 +cpu$/), expect.stringMatching(/^32\.0 KiB +300 GB\/s +8\.00 GB\/s$/), expect.stringMatching(/^64\.0 KiB +9\.00 GB\/s$/), expect.stringMatching(/^512 MiB +4\.20 TB\/s$/),
  ])
  expect(copyTable([ceiling('copy', 1)])).toBeUndefined()
})

test('a ceiling that bounds nothing says so in its note', () => {
  expect(ceilingTable([ceiling('copy', 6e7, { low: 5e7, high: 3e10 })])).toContain('Too uncertain to use: the 95 % CI is wider than ±50.0 %. Measure the ceilings again on an idle machine.')
})
