import { describe, expect, it } from 'vitest'
import { collect } from './collect'
import type { Sampler, Timed } from './sampler'
import { PRESETS } from '../settings'
import { criterionFor, type StoppingCriterion } from './stopping'

/** Samples of 1 ms, told apart by the batch they came in; the clock moves with them. */
function scripted() {
  let nowMs = 0
  const asked: number[] = []
  const sample: Sampler = ({ count, inner }) => {
    asked.push(count)
    nowMs += count
    return Promise.resolve({ samplesNs: new Float64Array(count).fill(1e6), inner, state: {}, wallSecondsPerSample: 1e-3 })
  }
  return { sample, asked, now: () => nowMs }
}

const window: Timed = { samplesNs: new Float64Array(8).fill(1.001e6), inner: 1, state: { temperatureC: 40 }, wallSecondsPerSample: 1e-3 }

async function run(criterion: StoppingCriterion) {
  const device = scripted()
  const pace = { inner: 1, wallSecondsPerSample: 1e-3, nsPerCall: 1e6, settled: true, window }
  const collected = await collect({ ...device, mode: 'hot', pace, criterion, minSeconds: 0.05, maxSeconds: 1, onBatch: () => undefined })
  return { ...collected, asked: device.asked.reduce((a, b) => a + b, 0) }
}

describe('the settled window of the warm-up', () => {
  it('counts as the first samples of a case that stops by its interval, with its state and its time', async () => {
    const { samplesNs, asked, states, elapsedSeconds } = await run(criterionFor(PRESETS.standard))
    expect(samplesNs.slice(0, 9)).toEqual([...window.samplesNs, 1e6])
    expect(samplesNs).toHaveLength(asked + 8)
    expect(states.slice(0, 2)).toEqual([{ firstSample: 0, state: { temperatureC: 40 } }, { firstSample: 8, state: {} }])
    expect(elapsedSeconds).toBeCloseTo(samplesNs.length * 1e-3, 6)
  })

  it('is left out where an exact number of samples was asked for', async () => {
    const { samplesNs } = await run(criterionFor({ ...PRESETS.standard, rule: { id: 'fixed-count', count: 20 } }))
    expect(samplesNs).toEqual(new Array(20).fill(1e6))
  })
})

it('samples have as many calls as the backend made, and those of another number are left out', async () => {
  const device = scripted()
  /** Takes at most 4 calls at once from its third request on, 6 before. */
  let requests = 0
  const sample: Sampler = async (request) => {
    const inner = Math.min(request.inner, ++requests < 3 ? 6 : 4)
    return { ...(await device.sample(request)), inner, samplesNs: new Float64Array(request.count).fill(inner) }
  }
  const pace = { inner: 10, wallSecondsPerSample: 1e-3, nsPerCall: 1e5, settled: true }
  const { inner, samplesNs, measuredSeconds } = await collect({ sample, now: device.now, mode: 'hot', pace, criterion: criterionFor({ ...PRESETS.standard, rule: { id: 'fixed-time', seconds: 0.1 } }), minSeconds: 0.1, maxSeconds: 1, onBatch: () => undefined })
  expect(inner).toBe(4)
  expect(new Set(samplesNs)).toEqual(new Set([4]))
  expect(measuredSeconds).toBeCloseTo((samplesNs.length * 4 * 4) / 1e9, 15)
})

it('a short block is asked for at once, not sample by sample', async () => {
  const device = scripted()
  const asked: number[] = []
  const sample: Sampler = (request) => (asked.push(request.count), device.sample(request))
  const pace = { inner: 1, wallSecondsPerSample: 1e-3, nsPerCall: 1e6, settled: true }
  const criterion = criterionFor({ ...PRESETS.standard, rule: { id: 'fixed-time', seconds: 0.01 } })
  await collect({ sample, now: device.now, mode: 'hot', pace, criterion, minSeconds: 0.01, maxSeconds: 0.01, onBatch: () => undefined })
  expect(asked).toEqual([10])
})
