import { expect, it } from 'vitest'
import { speedupOf } from './timing'

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
