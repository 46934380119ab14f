import { expect, it } from 'vitest'
import { speedupOf, batchScaling, threadScaling } from './timing'

it('is how many times as fast a side is, with distances on the log scale added in quadrature', () => {
  const found = speedupOf({ medianNs: 100, ciLowNs: 100 / Math.exp(0.03), ciHighNs: 100 * Math.exp(0.03) }, { medianNs: 400, ciLowNs: 400 / Math.exp(0.04), ciHighNs: 400 * Math.exp(0.04) })!
  expect(found.ratio).toBe(4)
  expect(Math.log(found.low! / 4)).toBeCloseTo(-0.05, 10)
  expect(Math.log(found.high! / 4)).toBeCloseTo(0.05, 10)
})

it('turns a skewed interval the right way round: a slow end of the side is a low end of the speedup', () => {
  const found = speedupOf({ medianNs: 100, ciLowNs: 100, ciHighNs: 150 }, { medianNs: 100, ciLowNs: 100, ciHighNs: 100 })!
  expect(found.low).toBeCloseTo(100 / 150, 10)
  expect(found.high).toBe(1)
})

it('has no interval where one side has none, and nothing to say of a time of zero', () => {
  expect(speedupOf({ medianNs: 50 }, { medianNs: 100, ciLowNs: 90, ciHighNs: 110 })).toEqual({ ratio: 2 })
  expect(speedupOf({ medianNs: 0 }, { medianNs: 100 })).toBeUndefined()
})

const at = (...pairs: [at: number, medianNs: number][]) => pairs.map(([threads, medianNs]) => ({ at: threads, medianNs }))

it('tells speedup and efficiency over one thread, whatever order they come in', () => {
  const points = threadScaling(at([4, 50], [1, 100], [2, 50]))
  expect(points.map(({ timing, gain, ideal, efficiency }) => [timing.at, gain.ratio, ideal, efficiency])).toEqual([[1, 1, 1, 1], [2, 2, 2, 1], [4, 2, 4, 0.5]])
})

it('is relative to the fewest threads where one was not measured', () => {
  expect(threadScaling(at([4, 100], [16, 50]))[1]).toMatchObject({ ideal: 4, efficiency: 0.5 })
})

it('carries the intervals of both medians', () => {
  const [, two] = threadScaling([{ at: 1, medianNs: 100, ciLowNs: 90, ciHighNs: 110 }, { at: 2, medianNs: 50, ciLowNs: 50, ciHighNs: 50 }])
  expect(two!.gain.low).toBeCloseTo(2 * 0.9, 10)
  expect(two!.gain.high).toBeCloseTo(2 * 1.1, 10)
})

it('counts rows per second for batches, as a share of the best', () => {
  // 1 row in 10 ns, 4 rows in 10 ns (free), 8 rows in 40 ns.
  const points = batchScaling(at([1, 10], [4, 10], [8, 40]))
  expect(points.map(({ gain, ideal, efficiency }) => [gain.ratio, ideal, efficiency])).toEqual([[1, 1, 0.25], [4, 4, 1], [2, 8, 0.5]])
})

it('has nothing to say of nothing', () => {
  expect(threadScaling([])).toEqual([])
  expect(batchScaling(at([0, 5], [2, 0]))).toEqual([])
})
