import { expect, test } from 'vitest'
import { testDevice, testResult } from '../testing'
import { gradeSummary, limitLines } from './machine-summary'

const ceiling = (kind: string, value: number, unit: 'bytes/s' | 'FLOP/s' | 's', deviceName = 'NVIDIA H200') => ({ backend: 'cuda', device: 'cuda:0', deviceName, kind, value, unit, measuredAt: '2026-01-01T00:00:00Z', result: testResult() })

test('limits come with their share of the datasheet, those of other devices and points of the curve not at all', () => {
  const device = testDevice({ backend: 'cuda', id: 'cuda:0', name: 'NVIDIA H200' })
  const all = [ceiling('launch:hot', 2.1e-6, 's'), ceiling('copy', 4.2e12, 'bytes/s'), ceiling('copy:65536', 1e12, 'bytes/s'), ceiling('flops:f32', 6.1e13, 'FLOP/s'), ceiling('copy', 1e9, 'bytes/s', 'Another GPU')]
  expect(limitLines(device, all)).toEqual([
    { title: 'Copy bandwidth', value: '4.20 TB/s ±0.04 %, 87.5 % of the datasheet' },
    { title: 'Peak f32', value: '61.0 TFLOP/s <±0.01 %, 91.2 % of the datasheet' },
    { title: 'Launch, back to back', value: '2.10 µs ±0.06 %' },
  ])
})

test('limits have their interval, and say where it is too wide to bound anything', () => {
  const device = testDevice()
  const own = (low: number, high: number) => ({ ...ceiling('copy', 1e9, 'bytes/s', device.name), backend: device.backend, device: device.id, low, high })
  expect(limitLines(device, [own(0.99e9, 1.01e9)])).toEqual([{ title: 'Copy bandwidth', value: '1.00 GB/s ±1.00 %' }])
  expect(limitLines(device, [own(0.9e9, 20e9)])).toEqual([{ title: 'Copy bandwidth', value: expect.stringContaining('1.00 GB/s ±') as string, unusable: expect.stringContaining('Measure the ceilings again') as string }])
})

test('causes of grades are counted by result, most frequent first', () => {
  const summary = gradeSummary([
    { grade: 'A' },
    { grade: 'B', gradeReasons: ['Noisy: the MAD is 6 % of the median.', 'Outliers: 5 of 40 samples.'] },
    { grade: 'C', gradeReasons: ['Not converged: time limit of 1 s reached.', 'Noisy: the MAD is 20 % of the median.'] },
    { grade: undefined },
  ])
  expect(summary.counts).toEqual({ A: 1, B: 1, C: 1 })
  expect(summary.causes.map(({ cause, results }) => [cause, results])).toEqual([['Noisy', 2], ['Outliers', 1], ['Not converged', 1]])
  expect(summary.causes[0]!.example).toBe('Noisy: the MAD is 6 % of the median.')
})
