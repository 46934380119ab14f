import { expect, it } from 'vitest'
import { givenInputs } from '../testing'
import op, { isDropped } from './op'

it('takes either right answer, and neither of two wrong ones', () => {
  const p = op.params.parse({ n: 4, p: 0.25 })
  const reference = op.reference(p, givenInputs([3, 3, 3, 3]), 0, 4, 0, Float32Array.of(0, 4, 3, NaN))
  expect(Array.from(reference)).toEqual([0, 4, 4, 4])
})

it.each([0, 0.1, 0.5])('drops at the rate of p = %d, differently for every seed', (p) => {
  const n = 40_000
  const masks = [1, 2].map((seed) => Array.from({ length: n }, (_, i) => isDropped(seed, p, i)))
  for (const mask of masks) expect(Math.abs(mask.filter(Boolean).length / n - p)).toBeLessThanOrEqual(4 * Math.sqrt((p * (1 - p)) / n))
  if (p > 0) expect(masks[0]).not.toEqual(masks[1])
})

it('the mask follows the stated rule: word i mod 4 of block i / 4', () => {
  // First block of the known answers of Random123 for counter 0 and key 0: 0x66.., 0xe1.., 0xbc.., 0x9b..
  expect([0, 1, 2, 3].map((i) => isDropped(0, 0.5, i))).toEqual([true, false, false, false])
  expect(isDropped(0, 0x6627e8 / 2 ** 24, 0)).toBe(false)
})
