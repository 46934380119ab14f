import { describe, expect, test } from 'vitest'
import { clusteredMean } from './clustered'
import { createRandom, normal } from './random'
import { studentQuantile } from './significance'

/** Share of trials whose 95 % interval holds the mean 0 of values in clusters that differ by `between` and have these sizes. */
function coverage(sizes: readonly number[], between: number, trials = 2000): number {
  const random = createRandom(5)
  let held = 0
  for (let trial = 0; trial < trials; trial++) {
    const clusters = sizes.flatMap((size, cluster) => new Array<number>(size).fill(cluster))
    const shifts = sizes.map(() => between * normal(random))
    const mean = clusteredMean(clusters.map((cluster) => shifts[cluster]! + normal(random)), clusters)!
    if (Math.abs(mean.estimate) <= studentQuantile(0.025, mean.degrees) * mean.error) held++
  }
  return held / trials
}

describe('the mean of values in clusters', () => {
  test('is the 20 % trimmed mean, with the error of independent values where clusters do not differ', () => {
    const values = [1, 2, 3, 4, 5, 6, 7, 8, 9, 1000]
    const mean = clusteredMean(values, values)!
    expect(mean.estimate).toBe(5.5)
    // Winsorised: 3 3 3 4 5 6 7 8 8 8, variance 4.722; Tukey and McLaughlin: s / ((1 - 2 * 0.2) sqrt(n)).
    expect(mean.error).toBeCloseTo(Math.sqrt(4.7222) / (0.6 * Math.sqrt(10)), 4)
    expect(mean.degrees).toBe(5)
  })

  test('has the error of sums over clusters where these differ', () => {
    const clusters = [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3]
    const apart = clusteredMean(clusters.map((cluster) => cluster), clusters)!
    expect(apart.degrees).toBe(3)
    expect(apart.error).toBeGreaterThan(clusteredMean(clusters.map((cluster) => cluster), clusters.map((_, i) => i))!.error * 1.4)
    expect(clusteredMean([1, 2, 3], [7, 7, 7])).toBeUndefined()
    expect(clusteredMean([1, 1, 1, 1], [1, 1, 2, 2])).toEqual({ estimate: 1, error: 0, degrees: 1 })
  })

  test.each([
    ['independent values', [10, 10, 10, 10, 10, 10], 0],
    ['clusters that differ', [10, 10, 10, 10, 10, 10, 10, 10], 0.5],
    ['few in each', [2, 2, 2, 2, 2, 2], 0.3],
    ['unequal ones', [20, 10, 5, 5, 3, 2, 1, 1, 1, 1], 0.3],
  ])('its interval holds the mean in about 95 %% of trials: %s', (_, sizes, between) => {
    const share = coverage(sizes, between)
    expect(share).toBeGreaterThan(0.915)
    expect(share).toBeLessThan(0.995)
  })
})
