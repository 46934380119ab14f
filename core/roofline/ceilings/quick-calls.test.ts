import { describe, expect, it } from 'vitest'
import { createRandom } from '../../stats/random'
import { testDevice, testResult } from '../../testing'
import { roofline, roofsOf } from '../roofline'
import { ceilingOf, ceilingPlan, intervalOf, unusableText } from '.'
import { quickCalls } from './quick-calls'

const copy = ceilingPlan(testDevice()).find(({ kind }) => kind === 'copy')!.case

/** Calls of 1 ms with 1 % of spread, of which this share is interrupted and takes 2 to 8 ms more. */
function interrupted(share: number, count = 400, seed = 7): number[] {
  const random = createRandom(seed)
  return Array.from({ length: count }, () => 1e6 * (1 + 0.01 * random()) + (random() < share ? 2e6 + 6e6 * random() : 0))
}

describe('quick calls', () => {
  it.each([0, 0.3, 0.6, 0.85, 0.95, 0.98])('show what the hardware does when %d of the calls are interrupted', (share) => {
    const quick = quickCalls({ samplesNs: interrupted(share) })!
    expect(quick.ns / 1e6).toBeGreaterThan(1)
    expect(quick.ns / 1e6).toBeLessThan(1.02)
    expect([quick.lowNs <= quick.ns, quick.ns <= quick.highNs]).toEqual([true, true])
  })

  it('are those of batches that were not interrupted, and without a label', () => {
    const samplesNs = [...Array<number>(20).fill(500), ...Array<number>(20).fill(1000), ...Array<number>(20).fill(400)]
    const deviceStates = [{ firstSample: 0, state: { involuntarySwitches: 1 } }, { firstSample: 20, state: { involuntarySwitches: 0 } }]
    expect(quickCalls({ samplesNs, deviceStates, labels: [{ kind: 'host-slowed', reason: '', first: 40, count: 20 }] })?.ns).toBe(1000)
    // Where too few are left, all count.
    expect(quickCalls({ samplesNs: samplesNs.slice(0, 24), deviceStates })?.ns).toBe(500)
    expect(quickCalls({ samplesNs: [] })).toBeUndefined()
  })

  it('that are few say so by a wide interval', () => {
    const { ns, lowNs, highNs } = quickCalls({ samplesNs: interrupted(0.97) })!
    expect([ns / 1e6 < 1.02, lowNs <= ns, highNs / lowNs > 1.1]).toEqual([true, true, true])
  })

  it('one freak sample is no ceiling', () => {
    expect(quickCalls({ samplesNs: [1, 1000, ...Array.from({ length: 30 }, (_, i) => 3000 + 500 * i)] })?.ns).toBe(1000)
    expect(quickCalls({ samplesNs: [1, ...Array<number>(99).fill(1000)] })?.ns).toBe(1000)
  })
})

describe('the ceiling of a processor under load', () => {
  const bytes = 2 ** 27
  const samplesNs = interrupted(0.7)
  const sorted = [...samplesNs].sort((a, b) => a - b)
  const result = testResult({ case: copy, bytes, samplesNs, summary: { ...testResult().summary!, medianNs: sorted[200]! } })

  it('is the rate of its quick calls, not of the median, and has their interval', () => {
    const ceiling = ceilingOf(testDevice(), result)!
    expect(ceiling.value / (bytes / 1e-3)).toBeGreaterThan(0.98)
    expect(ceiling.value / (bytes / (result.summary!.medianNs / 1e9))).toBeGreaterThan(2)
    const { low, high } = intervalOf(ceiling)
    expect([low! <= ceiling.value, high! >= ceiling.value, high! / low! < 1.05]).toEqual([true, true, true])
    // As a session keeps it: without samples, with the interval.
    expect(intervalOf({ ...ceiling, result: { ...result, samplesNs: [] } })).toEqual({ low, high })
  })

  it('is not exceeded by a result of a quiet moment, and one far above it says why', () => {
    const ceilings = [ceilingOf(testDevice(), result)!]
    const share = (medianNs: number) => roofline({ bytes, flops: 0, medianNs }, roofsOf(ceilings, copy))!
    expect(share(1.01e6).efficiency).toBeLessThanOrEqual(1.01)
    expect(share(0.4e6)).toMatchObject({ efficiency: expect.closeTo(2.5, 1) as number, flag: expect.stringContaining('the ceiling was measured too low') as string })
  })

  it('bounds nothing where contention left its interval as wide as itself, and says so', () => {
    // One call in 30 was left alone.
    const contended = ceilingOf(testDevice(), { ...result, samplesNs: [1e6, ...Array.from({ length: 29 }, (_, i) => 4e8 + 1e6 * i)] })!
    expect(roofsOf([contended], copy)).toEqual({})
    expect(unusableText(contended)).toBe('Too uncertain to use: the 95 % CI is wider than ±50.0 %. Measure the ceilings again on an idle machine.')
    // A wide interval below the value leaves it standing.
    const usable = ceilingOf(testDevice(), { ...result, samplesNs: [1e6, 1.01e6, ...Array.from({ length: 28 }, (_, i) => 4e6 + 1e4 * i)] })!
    expect(roofsOf([usable], copy).bytesPerSecond).toBeCloseTo(usable.value, 0)
    expect(unusableText(usable)).toBeUndefined()
  })
})
