import { describe, expect, it } from 'vitest'
import { collect } from './collect'
import type { Sampler, Timed } from './sampler'
import { PRESETS } from './settings'
import { criterionFor, type StoppingCriterion } from './stopping'

/** Samples of 1 ms, told apart by the batch they came in; the clock moves with them. */
function scripted() {
  let nowMs = 0
  const asked: number[] = []
  const sample: Sampler = ({ count }) => {
    asked.push(count)
    nowMs += count
    return Promise.resolve({ samplesNs: new Float64Array(count).fill(1e6), state: {}, wallSecondsPerSample: 1e-3 })
  }
  return { sample, asked, now: () => nowMs }
}

const window: Timed = { samplesNs: new Float64Array(8).fill(1.001e6), state: { temperatureC: 40 }, wallSecondsPerSample: 1e-3 }

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

it('a short block is asked for at once, not sample by sample', async () => {
  const device = scripted()
  const asked: number[] = []
  const sample: Sampler = (request) => (asked.push(request.count), device.sample(request))
  const pace = { inner: 1, wallSecondsPerSample: 1e-3, nsPerCall: 1e6, settled: true }
  const criterion = criterionFor({ ...PRESETS.standard, rule: { id: 'fixed-time', seconds: 0.01 } })
  await collect({ sample, now: device.now, mode: 'hot', pace, criterion, minSeconds: 0.01, maxSeconds: 0.01, onBatch: () => undefined })
  expect(asked).toEqual([10])
})
