import { describe, expect, it } from 'vitest'
import { ClockWarmUp } from './background-load'

/** Gives a device work of 5 ms at a time, which takes `nsAt(ms since it began)`; returns for how long, in ms. */
function wake(waking: ClockWarmUp, fromMs: number, nsAt: (ms: number) => number): number {
  waking.begin(fromMs)
  for (let ms = 5; ; ms += 5) if (waking.awake(nsAt(ms), fromMs + ms)) return ms
}

const ramp = (ms: number) => (ms < 500 ? 900 : ms < 700 ? 500 : 300)

describe('a device that rested', () => {
  it('is worked until its clock is the one it had before', () => {
    const waking = new ClockWarmUp()
    wake(waking, 0, () => 300)
    expect(wake(waking, 10_000, ramp)).toBe(700)
  })

  it('is awake at the first look where its clock has not fallen', () => {
    const waking = new ClockWarmUp()
    expect(wake(waking, 0, () => 300)).toBe(300)
    expect(wake(waking, 10_000, () => 302)).toBe(5)
  })

  it('is not waited for again where heat keeps it slow', () => {
    const waking = new ClockWarmUp()
    wake(waking, 0, () => 300)
    expect(wake(waking, 10_000, () => 330)).toBe(1000)
    expect(wake(waking, 20_000, () => 331)).toBe(5)
    // Once it is cool again that is its best.
    expect(wake(waking, 30_000, () => 300)).toBe(5)
    expect(wake(waking, 40_000, () => 330)).toBe(1000)
  })

  it('is taken as it is where its clock never comes to rest', () => {
    expect(wake(new ClockWarmUp(), 0, (ms) => 300 + (ms % 10) * 10)).toBe(2000)
  })
})

it('only a device without work for a while has rested', () => {
  const waking = new ClockWarmUp()
  expect(waking.rested(0)).toBe(true)
  wake(waking, 0, () => 300)
  expect(waking.rested(305)).toBe(false)
  waking.worked(400)
  expect(waking.rested(429)).toBe(false)
  expect(waking.rested(431)).toBe(true)
})
