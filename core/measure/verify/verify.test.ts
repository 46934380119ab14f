import { describe, expect, test } from 'vitest'
import { getOp } from '../../ops/registry'
import type { Op } from '../../ops/types'
import { addDifference, noDifference, ulp } from './difference'
import { planRanges } from './plan'
import { clearReferenceCache, createReference } from './reference'

const covered = (ranges: readonly { start: number; count: number }[]) => ranges.reduce((sum, range) => sum + range.count, 0)

describe('which parts are checked', () => {
  test.each([[1, 1], [1000, 1], [1_000_003, 1], [4096 * 33, 4096], [7, 7]])('%d elements in runs of %d: all of them when the work allows', (elements, granule) => {
    const ranges = planRanges({ elements, granule, costPerElement: 2 }, 2 * elements, 1)
    expect(covered(ranges)).toBe(elements)
    ranges.forEach((range, i) => expect(range.start).toBe(i === 0 ? 0 : ranges[i - 1]!.start + ranges[i - 1]!.count))
  })

  test.each([[1e8, 1, 1, 2e6], [4096 * 4096, 4096, 4096, 2e6], [64e6, 32768, 10, 1e6], [1e6, 1, 1e6, 2e6], [100, 50, 1e9, 1]])(
    '%d elements in runs of %d at %d each, work %d: aligned, apart, first and last included, within the work',
    (elements, granule, costPerElement, work) => {
      const ranges = planRanges({ elements, granule, costPerElement }, work, 7)
      expect(ranges[0]!.start).toBe(0)
      expect(ranges.at(-1)!.start + ranges.at(-1)!.count).toBe(elements)
      for (const [i, range] of ranges.entries()) {
        expect(range.start % granule).toBe(0)
        if (i > 0) expect(range.start).toBeGreaterThanOrEqual(ranges[i - 1]!.start + ranges[i - 1]!.count)
      }
      expect(covered(ranges) * costPerElement).toBeLessThanOrEqual(Math.max(work, 2 * granule * costPerElement))
      expect(ranges.length).toBeLessThanOrEqual(16)
    },
  )

  test('depend on the seed', () => {
    const starts = (seed: number) => planRanges({ elements: 1e8, granule: 1, costPerElement: 1 }, 1e6, seed).map((range) => range.start)
    expect(starts(1)).toEqual(starts(1))
    expect(starts(1)).not.toEqual(starts(2))
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
    addDifference(total, Float32Array.from(out), Float64Array.from(reference), 100, dtype, true)
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
})

describe('subnormals of f16', () => {
  const compare = (got: number, expected: number) => {
    const total = noDifference()
    addDifference(total, Float32Array.of(got), Float64Array.of(expected), 0, 'f16', false)
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
    const range = { start: 10, count: 20 }
    const first = createReference(op, { n: 100 }, 'f32', 1)(range)
    expect(createReference(op, { n: 100 }, 'f32', 1)(range)).toBe(first)
    expect(calls).toBe(1)
    createReference(op, { n: 100 }, 'f32', 2)(range)
    createReference(op, { n: 100 }, 'f16', 1)(range)
    createReference(op, { n: 101 }, 'f32', 1)(range)
    createReference(op, { n: 100 }, 'f32', 1)({ start: 0, count: 20 })
    expect(calls).toBe(5)
  })
})
