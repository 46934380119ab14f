import { expect, test } from 'vitest'
import { Outlook, Pace } from './pace'

test('time left starts at the estimate, follows what was seen and ends at zero', () => {
  const left = new Outlook()
  const pace = new Pace()
  const one = { device: 'cpu', seconds: 10 }
  const end = (count: number, took: number) => {
    for (let i = 0; i < count; i++) {
      left.add(one.device, -one.seconds)
      pace.ended(one, took)
    }
  }
  for (let i = 0; i < 10; i++) left.add(one.device, one.seconds)
  expect(pace.secondsLeft(left)).toBe(100)
  end(5, 20)
  // Twice as slow as planned: 50 s of the plan take nearly 100 s.
  expect(pace.secondsLeft(left)).toBeGreaterThan(90)
  expect(pace.secondsLeft(left)).toBeLessThanOrEqual(100)
  end(5, 20)
  expect(pace.secondsLeft(left)).toBe(0)
})

test('one slow device says nothing about another', () => {
  const pace = new Pace()
  pace.ended({ device: 'cpu', seconds: 10 }, 100)
  expect(pace.secondsLeft([{ device: 'cuda:0', seconds: 30 }])).toBe(30)
})
