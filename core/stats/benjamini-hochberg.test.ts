import { expect, test } from 'vitest'
import { benjaminiHochberg } from './benjamini-hochberg'

test('the fifteen p values of the paper: four are discoveries at 5 %', () => {
  // Benjamini and Hochberg (1995), section 4.1; adjusted values as R's p.adjust(p, "BH") gives them.
  const p = [0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.324, 0.4262, 0.5719, 0.6528, 0.759, 1]
  const adjusted = benjaminiHochberg(p)
  expect(adjusted.filter((value) => value <= 0.05)).toHaveLength(4)
  // 15 / rank times p by hand; a value is no larger than that of the next.
  expect(adjusted.slice(0, 4)).toEqual([0.0015, 0.003, 0.0095, 0.035625].map((value) => expect.closeTo(value, 10) as number))
  expect(adjusted[5]).toBeCloseTo((0.0298 * 15) / 7, 10)
  expect(adjusted[14]).toBe(1)
})

test('keeps the order given, and has nothing to say of nothing', () => {
  const shuffled = benjaminiHochberg([0.5, 0.01, 0.04])
  expect(shuffled[0]).toBeCloseTo(0.5, 12)
  expect(shuffled[1]).toBeCloseTo(0.03, 12)
  expect(shuffled[2]).toBeCloseTo(0.06, 12)
  expect(benjaminiHochberg([])).toEqual([])
  expect(benjaminiHochberg([0.2])).toEqual([0.2])
})
