import { expect, test } from 'vitest'
import { resampledTrimmedMean } from './bootstrap'
import { createRandom, normal } from './random'

test('leaves out a fifth at either end', () => {
  expect(resampledTrimmedMean([1, 2, 3, 4, 1000], 1).estimate).toBe(3)
  expect(resampledTrimmedMean([4, 2], 1).estimate).toBe(3)
})

test('95 % CIs hold the truth in about 95 % of trials from six values on, outliers or not', () => {
  for (const count of [6, 10, 24]) {
    for (const tail of [0, 0.1]) {
      let held = 0
      for (let trial = 0; trial < 200; trial++) {
        const random = createRandom(trial * 31 + count)
        const { low, high } = resampledTrimmedMean(Array.from({ length: count }, () => 5 + normal(random) * (random() < tail ? 8 : 1)), 7)
        if (low! <= 5 && 5 <= high!) held++
      }
      expect(held / 200).toBeGreaterThan(0.92)
      expect(held / 200).toBeLessThan(0.999)
    }
  }
})

test('the error shrinks with the number of values and is that of the estimate', () => {
  const values = (count: number) => Array.from({ length: count }, ((random) => () => normal(random))(createRandom(3)))
  expect(resampledTrimmedMean(values(100), 1).error!).toBeCloseTo(1.03 / 10, 1)
  expect(resampledTrimmedMean(values(400), 1).error!).toBeLessThan(resampledTrimmedMean(values(25), 1).error!)
})

test('equal values have no width, one value no interval', () => {
  expect(resampledTrimmedMean([2, 2, 2], 1)).toMatchObject({ estimate: 2, low: 2, high: 2, error: 0 })
  expect(resampledTrimmedMean([2], 1)).toEqual({ estimate: 2 })
})
