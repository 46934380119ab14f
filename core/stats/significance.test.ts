import { describe, expect, test } from 'vitest'
import { studentQuantile, studentTail, benjaminiHochberg } from './significance'

describe('Student t', () => {
  // Printed tables of the upper 2.5 % and 0.5 % points.
  test.each([
    [0.025, 1, 12.7062], [0.025, 2, 4.3027], [0.025, 5, 2.5706], [0.025, 30, 2.0423], [0.025, Infinity, 1.96],
    [0.005, 1, 63.6567], [0.005, 10, 3.1693], [0.005, Infinity, 2.5758],
  ])('upper %d point of %d degrees is %d', (tail, df, t) => {
    expect(studentQuantile(tail, df)).toBeCloseTo(t, 3)
    expect(studentTail(t, df)).toBeCloseTo(tail, 5)
  })

  test('one degree is the Cauchy distribution, whose tail is known in closed form', () => {
    for (const t of [0, 0.3, 1, 5, 40]) expect(studentTail(t, 1)).toBeCloseTo(0.5 - Math.atan(t) / Math.PI, 10)
  })

  test('is symmetric and falls to nothing', () => {
    expect(studentTail(-1.5, 7)).toBeCloseTo(1 - studentTail(1.5, 7), 12)
    expect(studentTail(0, 3)).toBeCloseTo(0.5, 12)
    expect(studentTail(Infinity, 3)).toBe(0)
    // erfc(9 / sqrt 2) / 2 of the C library.
    expect(studentTail(9, Infinity) / 1.1285884059538422e-19).toBeCloseTo(1, 3)
  })
})

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
