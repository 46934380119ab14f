import { describe, expect, it } from 'vitest'
import type { BenchmarkCase, Dtype, Mode } from '../case'
import type { Ceiling } from '../session/types'
import { testCase, testResult } from '../testing'
import { attainableFlops, roofFinder, roofline, roofsOf } from './roofline'

/** 1 TB/s and 10 TFLOP/s: the roofs meet at 10 FLOP per byte. */
const roofs = { bytesPerSecond: 1e12, flopsPerSecond: 1e13 }
const ceiling = (kind: string, value: number, device = 'cuda:0'): Ceiling => ({ backend: 'cuda', device, deviceName: 'GPU', kind, value, unit: kind === 'copy' ? 'bytes/s' : 'FLOP/s', measuredAt: '', result: testResult() })

describe('roofline', () => {
  it('a streaming case is memory bound and its efficiency is its share of the copy bandwidth', () => {
    const point = roofline({ bytes: 1e9, flops: 1e8, medianNs: 1.25e6 }, roofs)!
    expect(point).toMatchObject({ intensity: 0.1, bytesPerSecond: 8e11, attainableFlops: 1e11, bound: 'memory' })
    expect(point.efficiency).toBeCloseTo(0.8, 12)
    expect(point.flag).toBeUndefined()
  })

  it('a matrix product is compute bound and its efficiency is its share of the peak', () => {
    const point = roofline({ bytes: 1e7, flops: 1e10, medianNs: 2e6 }, roofs)!
    expect(point).toMatchObject({ bound: 'compute', attainableFlops: 1e13, flopsPerSecond: 5e12 })
    expect(point.efficiency).toBeCloseTo(0.5, 12)
  })

  it('a tiny case that takes many times its roof is latency bound, a slow large one is not', () => {
    expect(roofline({ bytes: 1e5, flops: 1e4, medianNs: 4000 }, roofs)!.bound).toBe('latency')
    expect(roofline({ bytes: 1e5, flops: 1e4, medianNs: 150 }, roofs)!.bound).toBe('memory')
    expect(roofline({ bytes: 1e9, flops: 1e8, medianNs: 1e8 }, roofs)!.bound).toBe('memory')
  })

  it('a measured launch decides what is latency bound: where it takes longer than the roof allows the work', () => {
    const launched = { ...roofs, launchSeconds: 2e-6 }
    expect(roofline({ bytes: 1e6, flops: 1e4, medianNs: 3000 }, launched)!.bound).toBe('latency')
    // Without the measurement this one would count as latency bound, though its kernel is just slow.
    expect(roofline({ bytes: 3e6, flops: 1e4, medianNs: 40_000 }, launched)!.bound).toBe('memory')
    expect(roofline({ bytes: 3e6, flops: 1e4, medianNs: 40_000 }, roofs)!.bound).toBe('latency')
    expect(roofline({ bytes: 1e6, flops: 1e4, medianNs: 900 }, launched)!).toMatchObject({ bound: 'memory', efficiency: expect.closeTo(1.11, 2) as number })
  })

  it('flags what is above 100 % of a ceiling', () => {
    expect(roofline({ bytes: 1e6, flops: 1e5, medianNs: 900 }, roofs)!.flag).toContain('memory bandwidth')
    expect(roofline({ bytes: 1e3, flops: 1e8, medianNs: 9000 }, roofs)!.flag).toContain('peak rate')
    expect(roofline({ bytes: 1e6, flops: 1e5, medianNs: 1000 }, roofs)!.flag).toBeUndefined()
  })

  it('claims nothing it does not know', () => {
    expect(roofline({ bytes: 1e9, flops: 1e8, medianNs: 1e6 }, {})).toEqual({ bytesPerSecond: 1e12, flopsPerSecond: 1e11, intensity: 0.1 })
    const half = roofline({ bytes: 1e9, flops: 1e8, medianNs: 2e6 }, { bytesPerSecond: 1e12 })!
    expect([half.bound, half.efficiency]).toEqual([undefined, 0.5])
    expect(roofline({ bytes: 1e9, flops: 0, medianNs: 2e6 }, { bytesPerSecond: 1e12 })!).toMatchObject({ bound: 'memory', flopsPerSecond: 0 })
    expect(roofline({ bytes: 1, flops: 1, medianNs: 0 }, roofs)).toBeUndefined()
  })

  it('the roofs meet at the ridge', () => {
    expect([attainableFlops(roofs, 5), attainableFlops(roofs, 10), attainableFlops(roofs, 100), attainableFlops({}, 1)]).toEqual([5e12, 1e13, 1e13, undefined])
  })
})

describe('the roofs of a case', () => {
  const c = (op: string, dtype: Dtype, params: BenchmarkCase['params'] = { n: 2 ** 20 }, change: Partial<BenchmarkCase> = {}) => testCase({ op, dtype, params, backend: 'cuda', device: 'cuda:0', impl: 'kernel', threads: undefined, ...change })
  const product = { m: 64, n: 64, k: 64 }
  const ceilings = [ceiling('copy', 4), ceiling('read', 5), ceiling('flops:f32', 2), ceiling('flops:bf16', 30), ceiling('copy', 9, 'cuda:1')]

  it('are those of its device, and of the unit that computes it: matrix units for products alone', () => {
    expect(roofsOf(ceilings, c('matmul', 'bf16', product)).flopsPerSecond).toBe(30)
    for (const op of ['gelu', 'exp', 'add']) expect(roofsOf(ceilings, c(op, 'bf16')).flopsPerSecond).toBe(2)
    expect(roofsOf(ceilings, c('softmax', 'bf16', { rows: 64, cols: 64 })).flopsPerSecond).toBe(2)
    expect(roofsOf(ceilings, c('matmul', 'f32', product)).flopsPerSecond).toBe(2)
    // A device without a peak of its own for the dtype computes it as f32.
    expect(roofsOf(ceilings, c('matmul', 'f16', product)).flopsPerSecond).toBe(2)
    expect(roofsOf(ceilings, c('add', 'f32', { n: 8 }, { device: 'cuda:7' }))).toEqual({})
  })

  it('rise from the copy to the read bandwidth with the share that is read', () => {
    const at = (op: string, params?: BenchmarkCase['params']) => roofsOf(ceilings, c(op, 'f32', params)).bytesPerSecond!
    expect(at('copy')).toBe(4)
    // Two of three bytes are read: a third of the way, in time per byte.
    expect(at('add')).toBeCloseTo(1 / ((2 / 3) / 4 + (1 / 3) / 5), 9)
    expect(at('sum', { rows: 1024, cols: 4096, axis: 'last' })).toBeCloseTo(5, 2)
    expect(roofsOf([ceiling('copy', 4)], c('sum', 'f32', { rows: 64, cols: 64, axis: 'all' })).bytesPerSecond).toBe(4)
    expect(roofsOf([ceiling('copy', 4), ceiling('read', 3)], c('sum', 'f32', { rows: 64, cols: 64, axis: 'all' })).bytesPerSecond).toBe(4)
  })

  it('fall or rise to the write bandwidth with the share that is written', () => {
    const at = (write: number, op: string, params?: BenchmarkCase['params']) => roofsOf([...ceilings, ceiling('write', write)], c(op, 'f32', params)).bytesPerSecond!
    expect([at(3, 'fill'), at(6, 'fill'), roofsOf(ceilings, c('fill', 'f32')).bytesPerSecond]).toEqual([3, 6, 4])
    // Half of a copy is writes, so memory takes them at half its rate at least.
    expect(at(1, 'fill')).toBe(2)
    // What reads as much as it writes, or more, is bound as before.
    expect([at(3, 'copy'), at(3, 'add')]).toEqual([4, roofsOf(ceilings, c('add', 'f32')).bytesPerSecond])
    // A sort reads 4 bytes an element and writes 4 and an index of 4: two thirds of it at the rate of a copy.
    expect(at(3, 'sort', { rows: 64, cols: 64 })).toBeCloseTo(1 / ((2 / 3) / 4 + (1 / 3) / 3), 9)
  })

  it('have the launch of its mode, that of back-to-back calls for rotated ones', () => {
    const launches = [ceiling('launch:hot', 2e-6), ceiling('launch:graph', 1e-6)]
    const launch = (mode: Mode) => roofsOf(launches, c('add', 'f32', { n: 8 }, { mode })).launchSeconds
    expect([launch('hot'), launch('rotated'), launch('graph'), launch('cold')]).toEqual([2e-6, 2e-6, 1e-6, undefined])
  })

  it('are found again for the same case, and not mixed up with those of another', () => {
    const find = roofFinder(ceilings)
    expect(find(c('sum', 'f32', { rows: 1024, cols: 4096, axis: 'last' }))).toBe(find(c('sum', 'f32', { rows: 1024, cols: 4096, axis: 'last' })))
    expect(find(c('gelu', 'bf16'))).toEqual(roofsOf(ceilings, c('gelu', 'bf16')))
    expect(find(c('matmul', 'bf16', product))).toEqual(roofsOf(ceilings, c('matmul', 'bf16', product)))
  })
})
