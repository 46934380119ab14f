import { expect, test } from 'vitest'
import { extent } from './descriptive'

test('the extent passes over what is no number, and of nothing is empty', () => {
  expect(extent([3, NaN, -1, 2])).toEqual([-1, 3])
  expect(extent(Float64Array.of(NaN))).toEqual([Infinity, -Infinity])
  expect(extent(Array.from({ length: 300_000 }, (_, i) => i))).toEqual([0, 299_999])
})
