import { describe, expect, test } from 'vitest'
import { createRandom, normal } from '../../stats/random'
import { formatHalfWidth } from '../../units'
import { PRESETS } from '../settings'
import { criterionFor, fixedCountCriterion, fixedTimeCriterion, relativeCiCriterion, stillText, type Decision, type StoppingCriterion } from '../sampling/stopping'

const settings = { relativeCi: 0.02, minSamples: 10, minSeconds: 0.1, maxSeconds: 1 }

/** Feeds samples one batch at a time, each sample taking `wallFactor` times its duration, until the criterion stops. */
function play(criterion: StoppingCriterion, sampleNs: (i: number) => number, { batch = 10, wallFactor = 1, limit = 100_000 } = {}): { samples: number; decision: Decision; asked: number } {
  const samplesNs: number[] = []
  let seconds = 0
  for (let asked = 1; ; asked++) {
    for (let i = 0; i < batch; i++) {
      samplesNs.push(sampleNs(samplesNs.length))
      seconds += samplesNs.at(-1)! / 1e9
    }
    const decision = criterion.decide({ samplesNs, measuredSeconds: seconds, elapsedSeconds: seconds * wallFactor })
    if (decision.stop || samplesNs.length >= limit) return { samples: samplesNs.length, decision, asked }
  }
}
const bell = (centreNs: number, sigma: number) => {
  const random = createRandom(9)
  return () => centreNs * (1 + sigma * normal(random))
}

describe('relative-ci', () => {
  test('quiet samples end at the least time, converged', () => {
    const { samples, decision } = play(relativeCiCriterion(settings), bell(1e6, 0.001))
    expect(decision).toMatchObject({ stop: true, converged: true, reason: '95 % CI within ±2 %' })
    expect(samples).toBeGreaterThanOrEqual(100)
    expect(samples).toBeLessThanOrEqual(120)
  })

  test('the least number of samples is kept even when each is long', () => {
    const { samples, decision } = play(relativeCiCriterion(settings), bell(5e7, 0.001), { batch: 1 })
    expect(decision).toMatchObject({ converged: true })
    expect(samples).toBe(10)
  })

  test('noisy samples go on until the interval is narrow enough', () => {
    const { samples, decision } = play(relativeCiCriterion({ ...settings, maxSeconds: 100 }), bell(1e6, 0.2))
    expect(decision).toMatchObject({ converged: true })
    expect(samples).toBeGreaterThan(200)
    expect(decision.relativeCi!).toBeLessThanOrEqual(0.02)
  })

  test('the time limit ends a case as not converged, with the width it reached', () => {
    const { decision } = play(relativeCiCriterion({ ...settings, relativeCi: 1e-5 }), bell(1e6, 0.2), { batch: 50 })
    expect(decision).toMatchObject({ stop: true, converged: false, reason: expect.stringMatching(/time limit of 1 s reached, 95 % CI still ±\d/) })
    // As the details write the same interval beside it.
    expect(decision).toMatchObject({ reason: expect.stringContaining(`still ${formatHalfWidth(decision.relativeCi)}`) as string })
    expect(stillText(33.043)).toBe('still ±3304 %')
  })

  test('samples that drift without end stop when the interval no longer narrows, long before the limit', () => {
    const { decision, samples } = play(relativeCiCriterion({ ...settings, maxSeconds: 1e6 }), (i) => 1e6 * 1.01 ** (i / 2), { limit: 20_000 })
    expect(decision).toMatchObject({ stop: true, converged: false, reason: expect.stringContaining('no longer narrow') })
    expect(samples).toBeLessThan(20_000)
  })

  test('one call longer than the limit is sampled twice', () => {
    const { samples, decision } = play(relativeCiCriterion(settings), () => 3e9, { batch: 1 })
    expect(samples).toBe(2)
    expect(decision).toMatchObject({ converged: false, reason: 'time limit of 1 s reached, too few samples for a CI' })
  })

  test('a short call with a long flush does not wait for measured time alone', () => {
    // 2 us measured of 200 us spent: 0.1 s measured would take 10 s.
    const { samples } = play(relativeCiCriterion({ ...settings, maxSeconds: 100 }), bell(2000, 0.001), { wallFactor: 100, batch: 100 })
    expect(samples).toBeLessThanOrEqual(1100)
  })

  test('says how many samples will probably be enough', () => {
    const samplesNs = Array.from({ length: 100 }, bell(1e6, 0.2))
    const decision = relativeCiCriterion(settings).decide({ samplesNs, measuredSeconds: 0.1, elapsedSeconds: 0.1 })
    if (decision.stop) throw new Error('stopped too early')
    expect(decision.expectedSamples!).toBeCloseTo(100 * (decision.relativeCi! / 0.02) ** 2, -1)
  })

  test('samples of zero length never converge', () => {
    const decision = relativeCiCriterion(settings).decide({ samplesNs: new Array<number>(50).fill(0), measuredSeconds: 0, elapsedSeconds: 2 })
    expect(decision).toMatchObject({ stop: true, converged: false })
  })
})

describe('relative-ci with odd samples', () => {
  const at = (samplesNs: number[]) => relativeCiCriterion(settings).decide({ samplesNs, measuredSeconds: 1, elapsedSeconds: 0.5 })
  const times = (n: number, make: (i: number) => number) => Array.from({ length: n }, (_, i) => make(i))
  test('all equal: converged with a width of zero', () => expect(at(times(20, () => 5e6))).toMatchObject({ stop: true, converged: true, relativeCi: 0 }))
  test('two values a tick apart: converged', () => expect(at(times(40, (i) => 1e6 + (i % 3 === 0 ? 1000 : 0)))).toMatchObject({ stop: true, converged: true }))
  test('two modes far apart: goes on', () => expect(at(times(40, (i) => (i % 2 === 0 ? 1e6 : 2e6)))).toMatchObject({ stop: false }))
  test('skewed: the tail does not keep it from converging', () => expect(at(times(200, (i) => 1e6 * (1 + (i % 20 === 0 ? 3 : 0) + (i % 7) / 1000)))).toMatchObject({ stop: true, converged: true }))
  test('one sample or none: asks for more', () => {
    for (const samplesNs of [[], [1e6]]) {
      const decision = at(samplesNs)
      expect(decision).toMatchObject({ stop: false, expectedSamples: 10 })
    }
  })
})

test('fixed-count stops at the count', () => {
  expect(play(fixedCountCriterion(35), bell(1, 0.5), { batch: 1 })).toMatchObject({ samples: 35, decision: { converged: true, reason: '35 samples taken' } })
})

test('fixed-time stops at the time, with two samples at least', () => {
  expect(play(fixedTimeCriterion(0.5), () => 1e7, { batch: 1 }).samples).toBe(50)
  expect(play(fixedTimeCriterion(0.5), () => 1e9, { batch: 1 }).samples).toBe(2)
})

describe('the limit of wall time holds for every rule', () => {
  test('fixed-count says how far it came', () => {
    const { samples, decision } = play(fixedCountCriterion(100, 0.5), () => 1e8, { batch: 1 })
    expect(samples).toBe(5)
    expect(decision).toEqual({ stop: true, converged: false, reason: 'time limit of 0.5 s reached with 5 of 100 samples' })
  })
  test('fixed-time longer than the limit is not converged', () => {
    expect(play(fixedTimeCriterion(3, 1), () => 1.25e8, { batch: 1 })).toMatchObject({ samples: 8, decision: { converged: false, reason: 'time limit of 1 s reached before the 3 s of the rule' } })
  })
  test('but one call longer than it is still sampled twice', () => {
    for (const criterion of [fixedCountCriterion(10, 1), fixedTimeCriterion(0.5, 1)]) expect(play(criterion, () => 5e9, { batch: 1 }).samples).toBe(2)
  })
})

test('fixed-time does not hoard samples of a call that takes next to no time', () => {
  const { samples, decision } = play(fixedTimeCriterion(3600), () => 10, { batch: 50_000, limit: 1e6 })
  expect(samples).toBe(200_000)
  expect(decision).toMatchObject({ stop: true, reason: expect.stringContaining('before 3600 s') })
})

test.each([
  [undefined, 'relative-ci'], [{ id: 'relative-ci' }, 'relative-ci'], [{ id: 'fixed-count', count: 7 }, 'fixed-count'], [{ id: 'fixed-time', seconds: 0.2 }, 'fixed-time'],
] as const)('settings with the rule %o get the criterion %s', (rule, id) => {
  const make = () => criterionFor({ ...PRESETS.quick, ...(rule ? { rule } : {}) })
  expect(make().id).toBe(id)
  // One history per case: two cases never share one.
  expect(make()).not.toBe(make())
  const { decision } = play(make(), bell(2e7, 0.001), { batch: 1 })
  expect(decision).toMatchObject({ stop: true, converged: true })
})
