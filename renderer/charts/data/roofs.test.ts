import { expect, it } from 'vitest'
import type { KnownCeiling } from '@core/roofline/ceilings'
import { testResult } from '@core/testing'
import { formatBandwidth } from '@core/units'
import { cacheRoofs, datasheetRoofs, measuredRoofs, roofChoice, roofGroups, roofOfCase, roofsOfCases } from './roofs'

const ceiling = (kind: string, value: number, change: Partial<KnownCeiling> = {}): KnownCeiling => ({
  backend: 'cuda', device: 'cuda:0', deviceName: 'NVIDIA H200', kind, value, unit: kind.startsWith('launch') ? 's' : kind.startsWith('flops') ? 'FLOP/s' : 'bytes/s', measuredAt: '', result: testResult(), ...change,
})

it('roofs are the copy bandwidth and the peaks, and no launch, cache or single copy', () => {
  const roofs = measuredRoofs([ceiling('launch:hot', 2e-6), ceiling('copy:65536', 9e12), ceiling('cache:L2', 6e12), ceiling('copy', 4.2e12), ceiling('flops:f32', 6e13)])
  expect(roofs.map((roof) => [roof.kind, roof.value])).toEqual([['copy', 4.2e12], ['flops:f32', 6e13]])
})

it('a roof of another driver says so in its label', () => {
  const roofs = measuredRoofs([ceiling('copy', 4.2e12, { stale: 'measured under driver 550, now 570' })])
  expect(roofGroups(roofs, 1, formatBandwidth)[0]!.label).toBe('NVIDIA H200 copy 4.20 TB/s (other driver)')
})

it('datasheets give their figures for the devices they know', () => {
  const roofs = datasheetRoofs([{ id: 'cuda:0', name: 'NVIDIA H200' }, { id: 'cpu', name: 'EPYC' }])
  expect(roofs[0]).toEqual({ device: 'cuda:0', deviceName: 'NVIDIA H200', kind: 'copy', value: 4.8e12, unit: 'bytes/s' })
  expect(roofs.map((roof) => roof.kind)).toEqual(['copy', 'flops:f32', 'flops:f16', 'flops:bf16', 'flops:tf32'])
})

it('a value that several backends of one card share stands once in the label', () => {
  const roofs = measuredRoofs([ceiling('copy', 4.2e12), ceiling('copy', 4.2e12, { backend: 'python', device: 'python:cuda:0' }), ceiling('copy', 4.1e12, { backend: 'webgpu', device: 'webgpu:0' })])
  expect(roofGroups(roofs, 1.1, formatBandwidth).map(({ label }) => label)).toEqual(['NVIDIA H200 copy 4.20 TB/s, 4.10 TB/s'])
})

it('caches are roofs of their own', () => {
  const caches = cacheRoofs([ceiling('cache:L2', 9e12), ceiling('copy', 4.2e12), ceiling('copy:65536', 9e12)])
  expect(caches.map(({ deviceName, kind, value }) => [deviceName, kind, value])).toEqual([['NVIDIA H200', 'L2', 9e12]])
})

it('of a processor are those of the level and thread count of a case, else of the whole device', () => {
  const cpu = { backend: 'cpu', device: 'cpu', deviceName: 'EPYC' }
  const roofs = measuredRoofs([ceiling('copy', 40e9, cpu), ceiling('flops:f32', 900e9, cpu), ceiling('copy@avx2/1', 10e9, cpu), ceiling('flops:f32@avx2/1', 60e9, cpu), ceiling('flops:f32@avx512/1', 110e9, cpu), ceiling('copy@avx512/1', 11e9, cpu), ceiling('cache:L2@avx2/1', 1e11, cpu)])
  const on = (impl: string, threads: number) => ({ device: 'cpu', impl, threads })
  expect([on('avx2', 1), on('avx2', 2), on('numpy', 1), on('scalar', 8)].map((c) => roofChoice(roofs, c))).toEqual([{ impl: 'avx2', threads: 1 }, undefined, { impl: 'avx512', threads: 1 }, undefined])
  expect(roofOfCase(roofs, on('avx2', 1), 'flops:f32')?.value).toBe(60e9)
  expect(roofOfCase(roofs, on('avx2', 2), 'copy')?.value).toBe(40e9)
  expect(roofsOfCases(roofs, [on('avx2', 1), on('avx2', 2)]).map(({ kind, value }) => [kind, value])).toEqual([['copy', 40e9], ['flops:f32', 900e9], ['copy', 10e9], ['flops:f32', 60e9]])
  expect(roofGroups(roofs.filter(({ kind, choice }) => kind === 'copy' && choice?.impl === 'avx2'), 1, formatBandwidth)[0]!.label).toBe('EPYC avx2, 1 thread copy 10.0 GB/s')
  // Slopes of the roofline are copies.
  expect(cacheRoofs([ceiling('cache:L2@avx2/1', 1e11, cpu), ceiling('cache:L2:read', 2e11, cpu)]).map(({ kind, choice }) => [kind, choice])).toEqual([['L2', { impl: 'avx2', threads: 1 }]])
})
