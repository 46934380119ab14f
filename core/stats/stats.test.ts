import { describe, expect, test } from 'vitest'
import { ratioOf, sideOf } from '../compare/ratio/ratio'
import { bootstrapMedians, medianInterval } from './bootstrap'
import { geometricMean, tukeyOutliers, median, quantile, mean, standardDeviation } from './descriptive'
import { createRandom, gamma, normal, type Random } from './random'
import { summarize } from './summarize'

const many = (n: number, make: (random: Random, i: number) => number, seed = 1) => {
  const random = createRandom(seed)
  return Array.from({ length: n }, (_, i) => make(random, i))
}

describe('quantile', () => {
  // Values of numpy.quantile([1, 2, 4, 8, 16], q).
  test.each([[0, 1], [0.05, 1.2], [0.25, 2], [0.5, 4], [0.6, 5.6], [0.95, 14.4], [1, 16]])('%d of powers of two is %d', (q, value) => {
    expect(quantile([16, 1, 8, 2, 4], q)).toBeCloseTo(value, 12)
  })
  test('median of an even count is the mean of the middle two', () => expect(median([4, 1, 3, 2])).toBe(2.5))
  test.each([[[]], [[1, NaN]], [[1, Infinity]]])('of %j is undefined', (samples) => expect(median(samples)).toBeUndefined())
  test('leaves its input as it was', () => {
    const samples = [3, 1, 2]
    median(samples)
    expect(samples).toEqual([3, 1, 2])
  })
})

describe('mean and deviation', () => {
  test('keep their digits on a large offset', () => {
    expect(mean([1e15 + 1, 1e15 + 2, 1e15 + 3])).toBe(1e15 + 2)
    expect(standardDeviation([1e12 + 1, 1e12 + 2, 1e12 + 3])).toBeCloseTo(1, 9)
  })
  test('of one sample: no deviation', () => {
    expect(mean([5])).toBe(5)
    expect(standardDeviation([5])).toBeUndefined()
  })
})

describe('random numbers', () => {
  test('normal has mean 0 and variance 1; gamma has mean and variance of its shape', () => {
    const bells = many(20_000, (random) => normal(random))
    expect(mean(bells)!).toBeCloseTo(0, 1)
    expect(standardDeviation(bells)!).toBeCloseTo(1, 1)
    for (const shape of [1, 3, 50]) {
      const values = many(20_000, (random) => gamma(random, shape), shape)
      expect(mean(values)! / shape).toBeCloseTo(1, 1)
      expect(standardDeviation(values)! ** 2 / shape).toBeCloseTo(1, 1)
    }
  })
})

describe('bootstrap of the median', () => {
  /** The plain way: draw n indices with replacement, sort, take the middle. */
  function plain(ascending: Float64Array, count: number, random: Random): Float64Array {
    return Float64Array.from({ length: count }, () => median(Float64Array.from(ascending, () => ascending[Math.floor(random() * ascending.length)]!))!)
  }

  test.each([5, 6, 9, 24, 101])('has the distribution of plain resampling for n = %d', (n) => {
    const samples = Float64Array.from(many(n, (random) => Math.exp(normal(random)))).sort()
    const fast = bootstrapMedians(samples, 20_000, createRandom(5))
    const slow = plain(samples, 20_000, createRandom(6))
    const spread = samples[n - 1]! - samples[0]!
    for (const q of [0.025, 0.1, 0.5, 0.9, 0.975]) {
      // Medians of resamples take few distinct values, so their shares are compared.
      const at = quantile(slow, q)!
      const share = (values: Float64Array) => values.filter((v) => v <= at + 1e-9 * spread).length / values.length
      expect(Math.abs(share(fast) - share(slow))).toBeLessThan(0.015)
    }
  })

  test('is the same every time', () => {
    const samples = many(50, (random) => normal(random))
    expect(medianInterval(samples)).toEqual(medianInterval(samples))
  })

  test('too few samples have no interval, equal samples a width of zero', () => {
    expect(medianInterval([1, 2, 3, 4])).toBeUndefined()
    expect(medianInterval([7, 7, 7, 7, 7, 7])).toEqual({ low: 7, high: 7 })
  })
})

/** Shapes that measured times take, or might. */
const SHAPES: readonly (readonly [string, number[]])[] = [
  ['skewed', many(200, (random) => 1000 - 100 * Math.log(random()))],
  ['bimodal', many(200, (random) => (random() < 0.5 ? 100 : 200) + normal(random))],
  ['bimodal, few', many(11, (random) => (random() < 0.5 ? 100 : 200) + normal(random))],
  ['drifting', many(200, (_random, i) => 100 + i)],
  ['two values', many(150, (random) => (random() < 0.7 ? 1 : 2))],
  ['all equal', new Array<number>(50).fill(3)],
  ['five equal', new Array<number>(5).fill(3)],
]

describe('intervals of odd samples', () => {
  test.each(SHAPES)('%s: holds the median, lies within the samples, and the ratio to itself is 1', (_name, samples) => {
    const interval = medianInterval(samples)!
    const middle = median(samples)!
    expect(interval.low).toBeLessThanOrEqual(middle)
    expect(interval.high).toBeGreaterThanOrEqual(middle)
    expect(interval.low).toBeGreaterThanOrEqual(Math.min(...samples))
    expect(interval.high).toBeLessThanOrEqual(Math.max(...samples))
    const itself = ratioOf(sideOf([samples], 1)!, sideOf([samples], 2)!)
    expect(itself.ratio).toBe(1)
    expect(itself.interval!.low).toBeLessThanOrEqual(1)
    expect(itself.interval!.high).toBeGreaterThanOrEqual(1)
  })
  test('five samples reach from the least to the greatest, whatever their order', () => expect(medianInterval([5, 1, 4, 2, 3])).toEqual({ low: 1, high: 5 }))
  test('the gap between two modes is spanned, not cut: a median anywhere in it is held', () => {
    // Seven samples, of which the second may be in either mode.
    expect(medianInterval([100, 200, 201, 202, 203, 204, 205])!.low).toBe(100)
    expect(medianInterval([100, 101, 102, 103, 104, 105, 200])!.high).toBe(200)
  })
  test('is as wide above as below for mirrored samples', () => {
    const samples = many(24, (random) => Math.exp(normal(random)))
    const [up, down] = [medianInterval(samples)!, medianInterval(samples.map((value) => -value))!]
    expect(up.low).toBeCloseTo(-down.high, 12)
    expect(up.high).toBeCloseTo(-down.low, 12)
  })
})

describe('outliers', () => {
  test('mild lie beyond 1.5, severe beyond 3 interquartile ranges', () => {
    const body = [10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20]
    expect(tukeyOutliers(Float64Array.from(body))).toEqual({ mild: 0, severe: 0 })
    expect(tukeyOutliers(Float64Array.from([...body, 30, 60]).sort())).toEqual({ mild: 1, severe: 1 })
  })
  test('one tick of the timer is no outlier', () => {
    const quantized = Float64Array.from([...new Array<number>(20).fill(100), 101, 101]).sort()
    expect(tukeyOutliers(quantized)).toEqual({ mild: 0, severe: 2 })
    expect(tukeyOutliers(quantized, 1)).toEqual({ mild: 0, severe: 0 })
  })
})

describe('summary', () => {
  const finite = (summary: object) => Object.values(summary).every((value) => Number.isFinite(value))

  test.each([
    ['skewed', many(200, (random) => 1000 - 100 * Math.log(random()))],
    ['bimodal', many(200, (random) => (random() < 0.5 ? 100 : 200) + normal(random))],
    ['drifting', many(200, (_random, i) => 100 + i)],
    ['two values', many(200, (random) => (random() < 0.7 ? 1 : 2))],
    ['all equal', new Array<number>(50).fill(3)],
    ['all zero', new Array<number>(50).fill(0)],
    ['two samples', [1, 2]],
    ['one sample', [5]],
  ])('of %s samples is finite and in order', (_name, samples) => {
    const s = summarize(samples)!
    expect(finite(s)).toBe(true)
    const inOrder = (...values: (number | undefined)[]) => {
      const known = values.filter((value) => value !== undefined)
      expect(known).toEqual([...known].sort((a, b) => a - b))
    }
    inOrder(s.minNs, s.p05Ns, s.p25Ns, s.medianNs, s.p75Ns, s.p95Ns, s.maxNs)
    // Where samples depend on each other the median is known less well than any of them differ.
    inOrder(s.ciLowNs, s.medianNs, s.ciHighNs)
    if (s.ciWidened === undefined) inOrder(s.p25Ns, s.ciLowNs, s.ciHighNs, s.p75Ns)
    expect(s.count).toBe(samples.length)
  })
  test('of none, or with one that is no number, there is none', () => {
    for (const samples of [[], [NaN], [1, 2, NaN, 4, 5], [1, Infinity]]) expect(summarize(samples)).toBeUndefined()
  })
  test('fields that need more samples are absent', () => {
    expect(Object.keys(summarize([5])!).sort()).toEqual(['count', 'maxNs', 'meanNs', 'medianNs', 'mildOutliers', 'minNs', 'severeOutliers'])
    expect(summarize([1, 2, 3, 4])).not.toHaveProperty('ciLowNs')
    expect(summarize([1, 2, 3, 4])).not.toHaveProperty('p95Ns')
    expect(summarize([1, 2, 3, 4, 5])).toHaveProperty('ciLowNs')
  })
  test('known numbers', () => {
    expect(summarize([1, 2, 3, 4, 100])).toMatchObject({ medianNs: 3, madNs: 1, p25Ns: 2, p75Ns: 4, minNs: 1, maxNs: 100, meanNs: 22, severeOutliers: 1, mildOutliers: 0 })
  })
})

describe('geometric mean', () => {
  test('of ratios', () => expect(geometricMean([0.5, 2, 1])).toBeCloseTo(1, 12))
  test.each([[[]], [[1, 0]], [[1, -1]], [[NaN]], [[Infinity]]])('of %j is undefined', (values) => expect(geometricMean(values)).toBeUndefined())
})
