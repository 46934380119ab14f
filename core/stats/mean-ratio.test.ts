import { expect, test } from 'vitest'
import { meanRatio } from './mean-ratio'

test('a single ratio keeps its own interval', () => {
  const mean = meanRatio([{ ratio: 1.2, low: 1.1, high: 1.3 }])!
  expect(mean.ratio).toBeCloseTo(1.2)
  expect(mean.low).toBeCloseTo(1.1)
  expect(mean.high).toBeCloseTo(1.3)
})

test('the interval of a mean narrows with the square root of the number of equally uncertain ratios', () => {
  const mean = meanRatio(Array.from({ length: 16 }, () => ({ ratio: 2, low: 2 / 1.2, high: 2 * 1.2 })))!
  expect(mean.ratio).toBeCloseTo(2)
  expect(Math.log(mean.high! / mean.ratio)).toBeCloseTo(Math.log(1.2) / 4)
  expect(Math.log(mean.ratio / mean.low!)).toBeCloseTo(Math.log(1.2) / 4)
})

test('a ratio of unknown uncertainty leaves the mean without an interval, and nothing has no mean', () => {
  expect(meanRatio([{ ratio: 2, low: 1.9, high: 2.1 }, { ratio: 0.5 }])).toEqual({ ratio: 1 })
  expect(meanRatio([])).toBeUndefined()
})
