import { expect, test } from 'vitest'
import { Pace } from './pace'

const cases = (device: string, count: number) => Array.from({ length: count }, () => ({ device, seconds: 10 }))

test('time left starts at the estimate, follows what was seen and ends at zero', () => {
  const plan = cases('cpu', 10)
  const pace = new Pace(plan)
  expect(pace.secondsLeft()).toBe(100)
  for (const c of plan.slice(0, 5)) pace.ended(c, 20)
  // Twice as slow as planned: 50 s of the plan take nearly 100 s.
  expect(pace.secondsLeft()).toBeGreaterThan(90)
  expect(pace.secondsLeft()).toBeLessThanOrEqual(100)
  for (const c of plan.slice(5)) pace.ended(c, 20)
  expect(pace.secondsLeft()).toBe(0)
})

test('one slow device says nothing about another', () => {
  const [slow, fast] = [cases('cpu', 2), cases('cuda:0', 3)]
  const pace = new Pace([...slow, ...fast])
  for (const c of slow) pace.ended(c, 100)
  expect(pace.secondsLeft()).toBe(30)
})
