import { describe, expect, test } from 'vitest'
import type { SampleRequest } from '../../backend'
import { createRandom, normal } from '../../stats/random'
import type { Sampler } from './sampler'
import { calibrate, findPace, warmUp } from './warm-up'

/** A device whose call `i` takes `nsOf(i)`, with a clock that follows it. */
function device(nsOf: (call: number) => number, { overheadNs = 0, mostCalls = Infinity } = {}) {
  let calls = 0
  let timeNs = 0
  const requests: SampleRequest[] = []
  const sample: Sampler = (request) => {
    requests.push(request)
    const from = timeNs
    const inner = Math.min(request.inner, mostCalls)
    const samplesNs = Float64Array.from({ length: request.count }, () => {
      let sum = 0
      for (let i = 0; i < inner; i++) sum += nsOf(calls++)
      timeNs += sum + overheadNs
      return sum / inner
    })
    return Promise.resolve({ samplesNs, inner, state: {}, wallSecondsPerSample: (timeNs - from) / 1e9 / request.count })
  }
  return { sample, requests, now: () => timeNs / 1e6, seconds: () => timeNs / 1e9 }
}

describe('calibration', () => {
  test.each([[1, 30_000], [50, 390_000], [5000, 390_000], [1e6, 390_000], [1e9, 390_000]])('a call of %d ns gets enough repeats for %d ns in a few steps', async (callNs, targetNs) => {
    const d = device(() => callNs)
    const pace = await calibrate(d.sample, 'hot', targetNs, 30)
    expect(pace.inner * callNs).toBeGreaterThanOrEqual(targetNs * 0.8)
    expect(pace.inner * callNs).toBeLessThan(Math.max(targetNs * 2, callNs * 1.01))
    expect(d.requests.length).toBeLessThanOrEqual(5)
  })
  test('a slow first call does not fool it', async () => {
    const d = device((call) => (call === 0 ? 100_000 : 50))
    expect((await calibrate(d.sample, 'hot', 390_000, 30)).inner * 50).toBeGreaterThanOrEqual(390_000 * 0.8)
  })
  test('cold calls are never repeated', async () => {
    expect(await calibrate(device(() => 10).sample, 'cold', 1e6, 30)).toMatchObject({ inner: 1 })
  })
  test('a device that takes few calls at once is asked for no more, and its pace says how many it made', async () => {
    const d = device(() => 100, { mostCalls: 500 })
    expect(await calibrate(d.sample, 'hot', 390_000, 30)).toMatchObject({ inner: 500, isMost: true, nsPerCall: 100 })
    const pace = await findPace({ sample: d.sample, mode: 'hot', tickNs: 30, runSeconds: 0, settings: { maxSeconds: 1, maxWarmupSeconds: 0.01 }, minSeconds: 0.1, now: d.now })
    expect(pace).toMatchObject({ inner: 500, nsPerCall: 100 })
    expect(pace.wallSecondsPerSample).toBeCloseTo(500 * 100e-9, 9)
    expect(pace.window?.inner).toBe(500)
  })
  test('a call too short to see ends at the most repeats, not never', async () => {
    expect((await calibrate(device(() => 0).sample, 'hot', 1e6, 30)).inner).toBe(1 << 20)
  })
})

describe('a reason for throttling', () => {
  const pace = { inner: 1, wallSecondsPerSample: 1e-3, nsPerCall: 1e6 }
  /** A device that names a reason until its clock reaches `untilSeconds`. */
  const throttled = (untilSeconds: number) => {
    const d = device(() => 1e6)
    const sample: Sampler = async (request) => ({ ...(await d.sample(request)), state: d.seconds() < untilSeconds ? { throttle: ['power limit'] } : {} })
    return { ...d, sample }
  }
  test('that the work before left behind is waited for, beyond the limit of a short warm-up', async () => {
    const d = throttled(0.5)
    const { settled, window } = await warmUp(d.sample, 'hot', pace, 0.3, d.now, undefined, 0.7)
    expect(settled).toBe(true)
    expect(window?.state.throttle).toBeUndefined()
    expect(d.seconds()).toBeLessThan(0.6)
  })
  test('that stays is the case\'s own, after a while that is bounded', async () => {
    const d = throttled(Infinity)
    const { settled } = await warmUp(d.sample, 'hot', pace, 0.3, d.now, undefined, 0.7)
    expect(settled).toBe(true)
    expect(d.seconds()).toBeGreaterThanOrEqual(0.7)
    expect(d.seconds()).toBeLessThan(0.8)
  })
  test('is not waited for in a block of a case that is open', async () => {
    const d = throttled(Infinity)
    const settings = { maxSeconds: 1, maxWarmupSeconds: 0.1 }
    await findPace({ sample: d.sample, mode: 'hot', tickNs: 1, runSeconds: 0, settings, minSeconds: 0.1, now: d.now, from: { ...pace, settled: true } })
    expect(d.seconds()).toBeLessThan(0.2)
  })
})

describe('warm-up', () => {
  const pace = { inner: 1, wallSecondsPerSample: 1e-4, nsPerCall: 1e5 }
  test('steady times settle after two windows', async () => {
    const d = device(() => 1e5)
    expect(await warmUp(d.sample, 'hot', pace, 2, d.now)).toMatchObject({ settled: true, nsPerCall: 1e5 })
    expect(d.requests).toHaveLength(2)
  })
  test('a case measured before settles with one window, unless its times have changed since', async () => {
    const before = (await warmUp(device(() => 1e5).sample, 'hot', pace, 2, () => 0)).window
    const [same, slower] = [device(() => 1.005e5), device(() => 1.5e5)]
    await warmUp(same.sample, 'hot', pace, 2, same.now, before)
    expect(same.requests).toHaveLength(1)
    expect(await warmUp(slower.sample, 'hot', pace, 2, slower.now, before)).toMatchObject({ settled: true, nsPerCall: 1.5e5 })
    expect(slower.requests).toHaveLength(2)
  })
  test('noise alone does not keep it from settling', async () => {
    const random = createRandom(2)
    const d = device(() => 1e5 * (1 + 0.2 * Math.abs(normal(random))))
    expect((await warmUp(d.sample, 'hot', pace, 2, d.now)).settled).toBe(true)
    expect(d.seconds()).toBeLessThan(0.5)
  })
  test('falling times are followed until they are flat', async () => {
    const d = device((call) => 1e5 * (1 + 2 * Math.exp(-call / 1000)))
    const { settled, nsPerCall } = await warmUp(d.sample, 'hot', pace, 2, d.now)
    expect(settled).toBe(true)
    expect(nsPerCall).toBeLessThan(1.06e5)
  })
  test('times that keep changing end at the limit and are told as such', async () => {
    const d = device((call) => 1e5 * 1.001 ** call)
    expect((await warmUp(d.sample, 'hot', pace, 0.5, d.now)).settled).toBe(false)
    expect(d.seconds()).toBeLessThan(1)
  })
  test('a flush many times longer than the call costs few samples', async () => {
    const random = createRandom(3)
    const d = device(() => 2000 * (1 + 0.05 * normal(random)), { overheadNs: 6e6 })
    await warmUp(d.sample, 'cold', { inner: 1, wallSecondsPerSample: 6e-3, nsPerCall: 2000 }, 0.1, d.now)
    expect(d.seconds()).toBeLessThan(0.12)
  })
})
