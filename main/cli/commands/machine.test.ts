import { expect, test } from 'vitest'
import type { NoiseFloor } from '@core/session/types'
import { testDevice, testGpu } from '@core/testing'
import { ceilingScope, selfCheckStatus } from './machine'
import { noiseTable } from '../output/tables'

const floor: NoiseFloor = { backend: 'cuda', device: 'cuda:0', deviceName: 'H200', driver: '570.86', measuredAt: '2026-01-01T00:00:00Z', pairs: 100, falseVerdicts: 1, ratioP50: 0.0004, ratioP95: 0.0031, sessionId: 's' }

test('a self-check fails when it measured nothing or tells more than one pair in a hundred apart', () => {
  expect(selfCheckStatus([])).toBe(1)
  expect(selfCheckStatus([floor])).toBe(0)
  expect(selfCheckStatus([{ ...floor, falseVerdicts: 2 }])).toBe(1)
  expect(selfCheckStatus([{ ...floor, falseVerdicts: 2 }, { ...floor, falseVerdicts: 0 }])).toBe(0)
})

test('the noise of a device is a line with percentages', () => {
  expect(noiseTable([floor]).split('\n')[1]).toMatch(/^cuda:0 +H200 +570\.86 +100 +1 +0\.04 % +0\.31 %/)
})

test('ceilings are those of the levels and thread counts named; without a name of either, all of it or the preferred one', () => {
  const streams = { stream_read: ['f32' as const], stream_write: ['f32' as const], stream_copy: ['f32' as const] }
  const cpu = testDevice({ impls: testDevice().impls.map((impl) => ({ ...impl, kernels: { ...impl.kernels, ...streams } })) })
  expect(ceilingScope([cpu], {})).toEqual({})
  expect(ceilingScope([cpu], { all: true })).toEqual({ all: true })
  expect(ceilingScope([cpu, testGpu()], { impls: 'scalar', threads: '1,4' })).toEqual({ choices: [{ impl: 'scalar', threads: 1 }, { impl: 'scalar', threads: 4 }] })
  expect(ceilingScope([cpu], { threads: '2' })).toEqual({ choices: [{ impl: 'avx2', threads: 2 }] })
  expect(() => ceilingScope([cpu], { threads: '3' })).toThrow('unknown thread count "3"')
  expect(() => ceilingScope([cpu], { impls: 'sse9' })).toThrow('unknown implementation "sse9"')
  expect(() => ceilingScope([testGpu()], { impls: 'avx2' })).toThrow('none is measured')
})
