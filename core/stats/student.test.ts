import { describe, expect, test } from 'vitest'
import { studentQuantile, studentTail } from './student'

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
