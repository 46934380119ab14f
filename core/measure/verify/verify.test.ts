import { describe, expect, test } from 'vitest'
import { getOp } from '../../ops/registry'
import type { Op } from '../../ops/types'
import { addDifference, mergeDifference, noDifference, ulp, type Difference } from './difference'
import { verificationOf } from './outcome'
import { CHUNK, chunksOf, sampleRanges, wholeRanges } from './plan'
import { clearReferenceCache, createReference } from './reference'

const covered = (ranges: readonly { start: number; count: number }[]) => ranges.reduce((sum, range) => sum + range.count, 0)

describe('which parts are compared', () => {
  test.each([[1, 1], [1000, 1], [1_000_003, 1], [4096 * 33, 4096], [7, 7]])('all of %d elements in granules of %d: in order, without a gap', (elements, granule) => {
    const ranges = wholeRanges({ elements, granule, costPerElement: 14 }, 2)
    expect(covered(ranges)).toBe(elements)
    ranges.forEach((range, i) => expect(range.start).toBe(i === 0 ? 0 : ranges[i - 1]!.start + ranges[i - 1]!.count))
  })

  test.each([[[1_000_003], 1], [[1000, 1000], 1], [[33, 4099], 1], [[4096, 65], 65], [[8, 64, 64], 1]])('a sample of %j has an element of every tile, partial ones at the ends included', (shape, granule) => {
    const elements = shape.reduce((a, b) => a * b)
    const { ranges, coverage } = sampleRanges({ elements, granule, shape }, elements / 5, 7)
    expect(coverage).toBe(1)
    expect(covered(ranges)).toBeLessThan(elements / 2)
    const columns = shape.length > 1 ? shape.at(-1)! : elements
    const tile = (at: number) => (shape.length > 1 ? `${Math.floor(Math.floor(at / columns) / 32)},${Math.floor((at % columns) / 32)}` : String(Math.floor(at / 1024)))
    const all = new Set(Array.from({ length: elements }, (_, at) => tile(at)))
    const hit = new Set(ranges.flatMap(({ start, count }) => Array.from({ length: count }, (_, i) => tile(start + i))))
    expect(hit.size).toBe(all.size)
  })

  test.each([1, CHUNK, CHUNK + 1, 5 * CHUNK - 3])('chunks of %d elements: all of them, in order, without a gap', (elements) => {
    const chunks = chunksOf(elements, 5)
    expect(covered(chunks)).toBe(elements)
    chunks.forEach(({ start }, i) => expect(start).toBe(i * CHUNK))
  })

  test('of more chunks than are read an even choice, the first and the last among them', () => {
    const elements = 2 ** 32 + 15
    const chunks = chunksOf(elements, 256)
    expect(chunks.length).toBe(256)
    expect(chunks[0]).toEqual({ start: 0, count: CHUNK })
    expect(chunks.at(-1)).toEqual({ start: 2 ** 32, count: 15 })
    const steps = chunks.slice(1).map(({ start }, i) => (start - chunks[i]!.start) / CHUNK)
    expect(Math.min(...steps)).toBeGreaterThanOrEqual(64)
    expect(Math.max(...steps)).toBeLessThanOrEqual(65)
  })

  test('a sample that cannot reach every tile says how many it reaches, and differs by seed', () => {
    const sample = (seed: number) => sampleRanges({ elements: 1e8, granule: 1, shape: [1e4, 1e4] }, 9800, seed)
    expect(sample(1).coverage).toBeCloseTo(9800 / Math.ceil(1e4 / 32) ** 2, 3)
    expect(sample(1)).toEqual(sample(1))
    expect(sample(1).ranges).not.toEqual(sample(2).ranges)
    expect(sample(1).ranges[0]!.start).toBe(0)
    expect(sample(1).ranges.at(-1)).toEqual({ start: 1e8 - 1, count: 1 })
  })
})

describe('units in the last place', () => {
  test.each([[1, 'f32', 2 ** -23], [1.99, 'f32', 2 ** -23], [2, 'f32', 2 ** -22], [-1024, 'f16', 1], [1, 'bf16', 2 ** -7], [0, 'f32', 2 ** -126], [1e-45, 'f32', 2 ** -126]] as const)('of %d in %s', (x, dtype, size) => {
    expect(ulp(x, dtype)).toBe(size)
  })
})

describe('difference', () => {
  const differ = (out: number[], reference: number[], dtype: 'f32' | 'f16' = 'f32') => {
    const total = noDifference()
    addDifference(total, Float32Array.from(out), Float64Array.from(reference), 100, dtype, { ulp: 4, abs: 0 })
    return total
  }
  test('counts NaN and infinity where the reference is finite, and says where the first is', () => {
    expect(differ([1, NaN, Infinity, 4], [1, 2, 3, 4])).toMatchObject({ nonFinite: 2, firstNonFinite: 101, maxAbs: 0, elements: 4 })
  })
  test('infinity is right where the reference overflows the dtype, with the right sign', () => {
    expect(differ([Infinity, -Infinity, 65504], [1e5, -7e4, 65519], 'f16')).toMatchObject({ nonFinite: 0 })
    expect(differ([-Infinity, NaN, 1], [1e5, 1e5, 1e5], 'f16')).toMatchObject({ nonFinite: 3 })
  })
  test('adds up squares, the largest error and ulps', () => {
    expect(differ([1, 2, 3 + 2 ** -21], [1, 2, 3])).toMatchObject({ sumSquaredError: 2 ** -42, sumSquaredReference: 14, maxAbs: 2 ** -21, maxUlp: 2, nonFinite: 0 })
  })
  test('holds every element against its bound, and says which is worst, whatever order the parts arrive in', () => {
    const parts = [differ([1, 2 + 2 ** -20, 3], [1, 2, 3]), differ([8 + 2 ** -15, 1], [8, 1])]
    const merged = (list: Difference[]) => list.reduce((total, part) => (mergeDifference(total, part), total), noDifference())
    expect(merged(parts)).toMatchObject({ elements: 5, beyond: 1, worst: 8, worstAt: 100 })
    expect(merged(parts.toReversed())).toEqual(merged(parts))
  })
})

describe('a reference that is zero everywhere', () => {
  const judged = (error: number) => {
    const element = { ulp: 4, abs: 1e-6 }
    const compared = noDifference()
    addDifference(compared, Float32Array.of(0, error), Float64Array.of(0, 0), 0, 'f32', element)
    return verificationOf({ compared, total: 2, unwritten: 0, nonFinite: 0, scale: 0, coverage: 1 }, { relL2: 1e-6, element })
  }
  test('has no norm to relate errors to: the bound of an element alone judges', () => {
    expect(judged(9e-7)).toMatchObject({ ok: true })
    expect(judged(1e-3)).toMatchObject({ ok: false, message: 'The reference is zero everywhere and the output is not.' })
  })
})

describe('subnormals of f16', () => {
  const compare = (got: number, expected: number) => {
    const total = noDifference()
    addDifference(total, Float32Array.of(got), Float64Array.of(expected), 0, 'f16', { ulp: 4, abs: 0 })
    return Math.sqrt(total.sumSquaredError / total.sumSquaredReference)
  }
  test('correct rounding is no error', () => expect(compare(16 * 2 ** -24, 16.4 * 2 ** -24)).toBe(0))
  test('more than that is', () => expect(compare(18 * 2 ** -24, 16.4 * 2 ** -24)).toBeGreaterThan(0.05))
})

describe('reference', () => {
  test('of one problem is computed once for many implementations, and again for another seed, dtype or size', () => {
    clearReferenceCache()
    let calls = 0
    const add = getOp('add')
    const op: Op = { ...add, reference: (...args) => (calls++, add.reference(...args)) }
    const range = { start: 10, count: 2000 }
    const first = createReference({ op, params: { n: 5000 }, dtype: 'f32', seed: 1, output: 0 })(range)
    expect(createReference({ op, params: { n: 5000 }, dtype: 'f32', seed: 1, output: 0 })(range)).toBe(first)
    expect(calls).toBe(1)
    createReference({ op, params: { n: 5000 }, dtype: 'f32', seed: 2, output: 0 })(range)
    createReference({ op, params: { n: 5000 }, dtype: 'f16', seed: 1, output: 0 })(range)
    createReference({ op, params: { n: 5001 }, dtype: 'f32', seed: 1, output: 0 })(range)
    createReference({ op, params: { n: 5000 }, dtype: 'f32', seed: 1, output: 0 })({ start: 0, count: 2000 })
    expect(calls).toBe(5)
  })
})
