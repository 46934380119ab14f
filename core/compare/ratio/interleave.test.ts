import { describe, expect, test } from 'vitest'
import { testDevice, testGpu } from '../../testing'
import { caseId } from '../../case'
import { createRandom, normal, type Random } from '../../stats/random'
import { INTERLEAVE, interleavedRatio, noiseFloorOf, pairSettled, selfCheckPairs, type Block } from '../../compare'

/** Quads of blocks of nine samples whose true time is 1000 ns * `sideB` on side b, times `at(block index)`. */
function quadsOf(count: number, random: Random, { sideB = 1, at = () => 1, sigma = 0.01, pair = 'p' }: { sideB?: number; at?: (block: number) => number; sigma?: number; pair?: string } = {}): Block[] {
  return Array.from({ length: count * 4 }, (_, i) => {
    const place = i % 4
    const centre = 1000 * (place === 1 || place === 2 ? sideB : 1) * at(i)
    return { pair, quad: Math.floor(i / 4), place, samplesNs: Array.from({ length: 9 }, () => centre * (1 + sigma * normal(random))) }
  })
}

describe('interleaved ratio', () => {
  test('drift of a device that slows down by half over the run cancels', () => {
    const drifting = interleavedRatio(quadsOf(10, createRandom(1), { at: (i) => 1 + i / 80, sigma: 0.001 }))!
    expect(drifting.ratio).toBeCloseTo(1, 3)
    expect(drifting.interval!.low).toBeLessThan(1)
    expect(drifting.interval!.high).toBeGreaterThan(1)
    expect(pairSettled(drifting, 0.01)).toBe(true)
  })

  test('is b over a: a side that takes 3 % longer is found, whatever the drift', () => {
    const { ratio, interval, quads } = interleavedRatio(quadsOf(8, createRandom(2), { sideB: 1.03, at: (i) => 2 - i / 32, sigma: 0.002 }))!
    expect(quads).toBe(8)
    expect(ratio).toBeCloseTo(1.03, 2)
    expect(interval!.low).toBeGreaterThan(1.02)
    expect(interval!.high).toBeLessThan(1.04)
  })

  test('one disturbed quad moves neither ratio nor verdict', () => {
    const blocks = quadsOf(12, createRandom(3), { sigma: 0.002 }).map((block) => (block.quad === 5 && block.place === 1 ? { ...block, samplesNs: [9000, 9000, 9000] } : block))
    expect(interleavedRatio(blocks)!.ratio).toBeCloseTo(1, 2)
  })

  test('a side that waited for the processor in most blocks has no ratio of the waiting: too few quads are left for a verdict', () => {
    // Nine of ten blocks of b were interrupted, and each of their calls waited for its second thread.
    const waited = (block: Block) => (block.place === 1 || block.place === 2) && block.quad % 10 !== 3
    const quads = (count: number) => quadsOf(count, createRandom(6), { sideB: 1.2, sigma: 0.002 }).map((block) => (waited(block) ? { ...block, samplesNs: [1.2e7, 9e6, 1.4e7], interrupted: true } : block))
    const few = interleavedRatio(quads(40))!
    expect(few.ratio).toBeCloseTo(1.2, 2)
    expect(few).toMatchObject({ quads: 4 })
    expect(few.interval).toBeUndefined()
    expect(interleavedRatio(quads(60))!.interval!.low).toBeGreaterThan(1.19)
  })

  test('an interrupted block that took about as long as the others counts', () => {
    expect(interleavedRatio(quadsOf(8, createRandom(7), { sideB: 1.1, sigma: 0.002 }).map((block) => ({ ...block, interrupted: true })))).toMatchObject({ quads: 8, ratio: expect.closeTo(1.1, 2) as number })
  })

  test('incomplete quads do not count, and few quads have no interval', () => {
    const blocks = quadsOf(INTERLEAVE.minQuads, createRandom(4))
    const short = interleavedRatio(blocks.slice(0, -1))!
    expect(short.quads).toBe(INTERLEAVE.minQuads - 1)
    expect(short.interval).toBeUndefined()
    expect(pairSettled(short, 0.5)).toBe(false)
    expect(interleavedRatio(blocks)).toMatchObject({ quads: INTERLEAVE.minQuads, interval: { low: expect.any(Number), high: expect.any(Number) } })
    expect(interleavedRatio(blocks.slice(0, 3))).toBeUndefined()
    expect(interleavedRatio([])).toBeUndefined()
    expect(interleavedRatio(blocks.map((block) => ({ ...block, samplesNs: [] })))).toBeUndefined()
    expect(pairSettled(undefined, 0.01)).toBe(false)
  })

  test('cycles tell a lower clock from slower code', () => {
    const blocks = quadsOf(8, createRandom(5), { sideB: 1.1, sigma: 0.001 }).map((block) => ({ ...block, clocksMhz: Array.from(block.samplesNs, () => (block.place === 1 || block.place === 2 ? 1800 : 1980)) }))
    const { ratio, cycles } = interleavedRatio(blocks)!
    expect(ratio).toBeCloseTo(1.1, 2)
    expect(cycles!.ratio).toBeCloseTo(1, 2)
    expect(interleavedRatio(blocks.map(({ clocksMhz, ...block }, i) => (i === 7 ? block : { ...block, clocksMhz })))!.cycles).toBeUndefined()
  })
})

describe('self-check', () => {
  const cpu = testDevice()

  test('pairs a varied set of cases of each available device with themselves', () => {
    const pairs = selfCheckPairs([cpu, testGpu(), testDevice({ id: 'gone', available: { ok: false, reason: 'No driver.' } })], 20)
    expect(new Set(pairs.map(({ id }) => id)).size).toBe(40)
    expect(pairs.every(({ a, b }) => caseId(a) === caseId(b))).toBe(true)
    const few = pairs.slice(0, 4).map(({ a }) => a)
    expect(new Set(few.map(({ op }) => op)).size).toBe(4)
    expect(new Set(few.map(({ mode }) => mode))).toEqual(new Set(['hot', 'cold']))
    expect(few.every((c) => c.impl === 'avx2' && c.threads === 4)).toBe(true)
    expect(pairs.slice(20).every(({ a }) => a.device === 'cuda:0' && a.impl === 'kernel' && a.threads === undefined)).toBe(true)
  })

  test('an emulated device gets small work, one that lacks the memory gets none', () => {
    const elements = (pairs: ReturnType<typeof selfCheckPairs>) => pairs.map(({ a }) => Object.values(a.params).reduce<number>((all, size) => (typeof size === 'number' ? all * size : all), 1))
    expect(Math.max(...elements(selfCheckPairs([testGpu({ software: true })], 12)))).toBeLessThanOrEqual(2 ** 18)
    expect(selfCheckPairs([testDevice({ memoryBytes: 16 })], 12)).toEqual([])
  })

  test('the noise floor is what the ratios of equal cases show', () => {
    const pairs = selfCheckPairs([cpu], 6)
    const about = { measuredAt: '2026-01-01T00:00:00Z', sessionId: 's' }
    const blocks = new Map(pairs.map(({ id }, i) => [id, quadsOf(8, createRandom(50 + i), { sigma: 0.003, ...(i === 0 ? { sideB: 1.05 } : {}) })]))
    const floor = noiseFloorOf(cpu, pairs, blocks, about)!
    expect(floor).toMatchObject({ backend: 'cpu', device: 'cpu', deviceName: 'Test CPU', pairs: 6, falseVerdicts: 1, ...about })
    expect(floor.ratioP50).toBeLessThan(0.005)
    expect(floor.ratioP95).toBeGreaterThan(0.03)
    expect(noiseFloorOf(testGpu(), pairs, blocks, about)).toBeUndefined()
    expect(noiseFloorOf(cpu, pairs, new Map(), about)).toBeUndefined()
  })
})
