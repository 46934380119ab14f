import { expect, it } from 'vitest'
import { exportSession, importSession, prepareExport } from '../../formats/registry'
import type { Ceiling } from '../../session/types'
import { testCase, testDevice, testGpu, testResult, testSession } from '../../testing'
import { ceilingsOfSession, recordedCeilings } from './index'

const gpu = testGpu({ name: 'NVIDIA H200', driver: '580' })
const python = testDevice({ backend: 'python', id: 'python:cuda:0', name: 'NVIDIA H200', driver: '580', sameHardwareAs: { backend: 'cuda', id: 'cuda:0', name: 'NVIDIA H200' } })
const ceiling = (kind: string, value: number, change: Partial<Ceiling> = {}): Ceiling => ({
  backend: 'cuda', device: 'cuda:0', deviceName: 'NVIDIA H200', driver: '580', kind, value, unit: 'bytes/s', measuredAt: '2026-11-21T08:00:00.000Z', result: testResult({ case: testCase({ backend: 'cuda', device: 'cuda:0' }), clocksMhz: [1, 2, 3] }), ...change,
})
const known = [ceiling('copy', 240e9), ceiling('copy:65536', 9e12), ceiling('copy', 1e9, { deviceName: 'Another GPU' }), ceiling('flops:f32', 5e13, { driver: '550', unit: 'FLOP/s' })]

it('a session keeps the ceilings of its own hardware with statistics, date and device, once for all backends that reach it', () => {
  const kept = recordedCeilings(known, [gpu, python])
  expect(kept.map(({ backend, device, kind, value, driver, measuredAt }) => [backend, device, kind, value, driver, measuredAt])).toEqual([
    ['cuda', 'cuda:0', 'copy', 240e9, '580', '2026-11-21T08:00:00.000Z'], ['cuda', 'cuda:0', 'flops:f32', 5e13, '550', '2026-11-21T08:00:00.000Z'],
  ])
  expect(kept[0]!.result).toMatchObject({ samplesNs: [], summary: { medianNs: 100, ciLowNs: 99, ciHighNs: 101.5 }, grade: 'A' })
  expect(kept[0]!.result).not.toHaveProperty('clocksMhz')
  expect(recordedCeilings(known, [python]).map(({ backend, kind }) => [backend, kind])).toEqual([['cuda', 'copy'], ['cuda', 'flops:f32']])
})

it('a session is judged by its own record before what this machine measured, and another driver is said', () => {
  const ceilings = recordedCeilings(known, [gpu])
  const judged = ceilingsOfSession({ ceilings, devices: [gpu, python] }, [ceiling('copy', 1), ceiling('read', 2)])
  expect(judged.map(({ backend, kind, value, stale }) => [backend, kind, value, stale])).toEqual([
    ['cuda', 'copy', 240e9, undefined], ['cuda', 'flops:f32', 5e13, 'measured under driver 550, now 580'],
    ['python', 'copy', 240e9, undefined], ['python', 'flops:f32', 5e13, 'measured under driver 550, now 580'],
    ['cuda', 'read', 2, undefined], ['python', 'read', 2, undefined],
  ])
})

it('efficiency, roofs and ceilings of an exported session are there on a machine that knows none of them', async () => {
  const file = testSession([testResult({ case: testCase({ backend: 'cuda', impl: 'kernel', device: 'cuda:0', threads: undefined }) })])
  file.environment = { ...file.environment, devices: [gpu], ceilings: recordedCeilings(known, [gpu]) }
  const there = importSession('session.json', exportSession('json', file))
  if (!there.ok) throw new Error(there.message)
  expect(there.file.environment.ceilings).toEqual(file.environment.ceilings)
  const [head, row] = exportSession('csv', there.file).trim().split('\n').map((line) => line.split(','))
  const cell = (name: string) => Number(row![head!.indexOf(name)])
  // 12,000 bytes in 100 ns are half of 240 GB/s.
  expect([cell('efficiency'), cell('ceiling_gbps'), cell('ceiling_gflops')]).toEqual([expect.closeTo(0.5, 3), expect.closeTo(240, 6), 50_000])
  await prepareExport('html')
  for (const format of ['markdown', 'html']) {
    const report = exportSession(format, there.file)
    expect(report).toContain('2026-11-21')
    expect(report).toContain('NVIDIA H200 (cuda:0)')
    expect(report).toContain('240 GB/s')
  }
})
