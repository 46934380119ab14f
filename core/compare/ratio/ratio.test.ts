import { describe, expect, test } from 'vitest'
import { medianInterval } from '../../stats/bootstrap'
import { overRuns } from '../../stats/summarize'
import { median } from '../../stats/descriptive'
import { createRandom, normal, type Random } from '../../stats/random'
import { ratioOf, sideOf } from './ratio'
import { pValueOf, verdictOf } from './verdict'

const noisy = (random: Random, count: number, centre: number, sigma = 0.01) => Array.from({ length: count }, () => centre * (1 + sigma * normal(random)))
const ratio = (side: number[][], base: number[][]) => ratioOf(sideOf(side, 1)!, sideOf(base, 2)!)
/** Runs whose true times differ among each other by `between`. */
const runsOf = (random: Random, count: number, centre: number, between: number) => Array.from({ length: count }, () => noisy(random, 40, centre * (1 + between * normal(random)), 0.002))

describe('one run on each side', () => {
  const random = createRandom(1)
  const [side, base] = [noisy(random, 100, 1050), noisy(random, 100, 1000)]

  test('is the ratio of medians with the interval that resampling gives', () => {
    const mine = ratio([side], [base])
    expect(mine.ratio).toBeCloseTo(median(side)! / median(base)!, 12)
    // Errors of independent medians add in squares.
    const halfOf = (samples: number[]) => (medianInterval(samples)!.high - medianInterval(samples)!.low) / 2 / median(samples)!
    const half = mine.ratio * Math.hypot(halfOf(side), halfOf(base))
    expect((mine.interval!.high - mine.interval!.low) / 2 / half).toBeGreaterThan(0.8)
    expect((mine.interval!.high - mine.interval!.low) / 2 / half).toBeLessThan(1.25)
    expect(mine.degrees).toBe(Infinity)
  })

  test('equal samples have no width, too few no interval, and what is no time is no side', () => {
    expect(ratio([[2, 2, 2, 2, 2]], [[1, 1, 1, 1, 1]]).interval).toEqual({ low: expect.closeTo(2, 12) as number, high: expect.closeTo(2, 12) as number })
    expect(ratio([[2, 2]], [[1, 1, 1, 1, 1]])).toEqual({ ratio: 2 })
    // The median of a resample may be zero.
    expect(ratio([[1, 1, 1, 1, 1]], [[0, 0, 1, 1, 1]])).toEqual({ ratio: 1 })
    for (const runs of [[], [[]], [[1, NaN]], [[0, 0, 0]], [[1, 1, 1], []]]) expect(sideOf(runs, 1)).toBeUndefined()
  })

  test('samples that wander make the interval wider than the same samples in any order', () => {
    const wandering = createRandom(5)
    let level = 0
    const walk = Array.from({ length: 640 }, () => 1000 * (1 + (level = 0.99 * level + 0.003 * normal(wandering)) + 0.002 * normal(wandering)))
    const width = (samples: number[]) => {
      const { interval } = ratio([samples], [noisy(createRandom(6), 640, 1000, 0.001)])
      return interval!.high - interval!.low
    }
    const key = createRandom(7)
    const shuffled = walk.map((value) => ({ value, at: key() })).sort((a, b) => a.at - b.at).map(({ value }) => value)
    expect(width(walk)).toBeGreaterThan(2 * width(shuffled))
  })
})

describe('several runs', () => {
  test('the interval holds how runs differ: samples alone would call equal code different', () => {
    let single = 0
    let hierarchical = 0
    for (let trial = 0; trial < 120; trial++) {
      const random = createRandom(4000 + trial)
      const [side, base] = [runsOf(random, 6, 1000, 0.02), runsOf(random, 6, 1000, 0.02)]
      const called = (interval: { low: number; high: number }) => Number(interval.low > 1 || interval.high < 1)
      hierarchical += called(ratio(side, base).interval!)
      single += called(ratio(side.slice(0, 1), base.slice(0, 1)).interval!)
    }
    expect(single / 120).toBeGreaterThan(0.8)
    expect(hierarchical / 120).toBeLessThan(0.08)
  })

  test('have one typical time everywhere: the ratio is that of the times that details show', () => {
    const random = createRandom(77)
    for (const count of [2, 3, 4, 7]) {
      const [side, base] = [runsOf(random, count, 1030, 0.02), runsOf(random, count, 1000, 0.02)]
      const shown = (runs: number[][]) => overRuns(runs.map((samples) => median(samples)!))!.median
      expect(ratio(side, base).ratio).toBeCloseTo(shown(side) / shown(base), 12)
    }
  })

  test('one run that was held up moves the ratio as little as it moves the typical time', () => {
    const random = createRandom(78)
    const base = runsOf(random, 5, 1000, 0.002)
    const side = [...runsOf(random, 4, 1000, 0.002), noisy(random, 40, 3000)]
    expect(ratio(side, base).ratio).toBeCloseTo(1, 1)
  })

  test('are drawn with a median of their own each time, also one run twice', () => {
    const samples = noisy(createRandom(79), 60, 1000, 0.05)
    const [one, two] = [sideOf([samples], 1)!, sideOf([samples, samples], 2)!]
    // Two runs that do not differ: each has the variance of one, their mean half of it, which few runs make twice as large.
    expect(two.variance / one.variance).toBeGreaterThan(0.8)
    expect(two.variance / one.variance).toBeLessThan(1.25)
  })

  test('a real difference is found once there are runs enough', () => {
    const random = createRandom(31)
    const found = ratio(runsOf(random, 8, 1080, 0.01), runsOf(random, 8, 1000, 0.01))
    expect(found.ratio).toBeCloseTo(1.08, 1)
    expect(verdictOf(found.interval)).toBe('slower')
    expect(found.degrees!).toBeGreaterThan(6)
    expect(found.degrees!).toBeLessThanOrEqual(14)
  })

  test('one run against several is as uncertain as one run is', () => {
    const random = createRandom(32)
    const base = runsOf(random, 8, 1000, 0.02)
    const { interval } = ratio(runsOf(random, 1, 1000, 0), base)
    expect(interval!.high - interval!.low).toBeGreaterThan(0.06)
  })
})

describe('p value against the band of the threshold', () => {
  const estimate = (ratio: number, logError = 0.01) => ({ ratio, logError, degrees: Infinity })
  test('is one inside the band and falls with the distance beyond it', () => {
    expect(pValueOf(estimate(1.005), 0.01)).toBe(1)
    expect(pValueOf(estimate(0.9905), 0.01)).toBe(1)
    // 1.96 standard errors beyond the edge.
    expect(pValueOf(estimate(1.01 * Math.exp(0.0196)), 0.01)).toBeCloseTo(0.05, 3)
    expect(pValueOf(estimate(0.99 * Math.exp(-0.0196)), 0.01)).toBeCloseTo(0.05, 3)
    expect(pValueOf(estimate(1.2), 0.01)).toBeLessThan(1e-10)
  })
  test('few degrees of freedom count for less', () => {
    expect(pValueOf({ ...estimate(1.01 * Math.exp(0.0196)), degrees: 5 }, 0.01)).toBeGreaterThan(0.1)
  })
  test('without noise it is all or nothing; without an error there is none', () => {
    expect(pValueOf(estimate(1.02, 0), 0.01)).toBe(0)
    expect(pValueOf(estimate(1.01, 0), 0.01)).toBe(1)
    expect(pValueOf({ ratio: 2 }, 0.01)).toBeUndefined()
  })
})
