import { expect, test } from 'vitest'
import { Pace } from './pace'

test('time left starts at the estimate, follows what was seen and ends at zero', () => {
  const pace = new Pace(new Array<number>(10).fill(10))
  expect(pace.secondsLeft()).toBe(100)
  for (let i = 0; i < 5; i++) pace.caseEnded(i, 20)
  // Twice as slow as planned: 50 s of the plan take nearly 100 s.
  expect(pace.secondsLeft()).toBeGreaterThan(90)
  expect(pace.secondsLeft()).toBeLessThanOrEqual(100)
  for (let i = 5; i < 10; i++) pace.caseEnded(i, 20)
  expect(pace.secondsLeft()).toBe(0)
})
