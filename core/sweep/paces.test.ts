import { describe, expect, it } from 'vitest'
import { PRESETS } from '../measure/settings'
import { testCase, testDevice } from '../testing'
import { estimateCaseSeconds, withPaces } from './estimate'
import type { Took } from './paces'

const { quick, standard } = PRESETS
const large = { params: { n: 2 ** 26 } }
/** What a case took: `factor` times its plain estimate. */
const took = (factor: number, change: Parameters<typeof testCase>[0] = {}, settings = quick): Took => {
  const c = testCase(change)
  return { case: c, deviceName: 'Test CPU', settings, wallSeconds: factor * estimateCaseSeconds(c, settings, [], [testDevice()]) }
}
const paced = (history: readonly Took[]) => withPaces([testDevice()], history, [])
/** Estimate with this history over the one without. */
const ratio = (history: readonly Took[], change: Parameters<typeof testCase>[0] = {}, settings = quick) =>
  estimateCaseSeconds(testCase(change), settings, [], paced(history)) / estimateCaseSeconds(testCase(change), settings, [], [testDevice()])

describe('estimates with a history', () => {
  it('come to what the same cases took, all of them together', () => {
    const history = [took(3, large), took(1.5), took(0.5, { op: 'gelu' })]
    const cases = history.map(({ case: c }) => c)
    const estimated = cases.reduce((sum, c) => sum + estimateCaseSeconds(c, quick, [], paced(history)), 0)
    expect(estimated).toBeCloseTo(history.reduce((sum, { wallSeconds }) => sum + wallSeconds, 0), 9)
  })

  it('take a case that compiles now and then as long as it takes on the whole', () => {
    expect(ratio([took(21), ...Array.from({ length: 9 }, () => took(1))])).toBeCloseTo(3, 9)
  })

  it('go by the newest ten of a kind', () => {
    expect(ratio([...Array.from({ length: 10 }, () => took(2)), took(100), took(100)])).toBeCloseTo(2, 9)
  })

  it('go by what is nearest: the op, then the size, then the implementation', () => {
    const history = [took(4, large), took(2, { op: 'gelu' })]
    expect(ratio(history, { op: 'gelu' })).toBeCloseTo(2, 9)
    expect(ratio(history, { ...large, op: 'copy' })).toBeCloseTo(4, 0)
    // Another preset spends its time on other parts: only what any case of the implementation took is known.
    expect(ratio(history, { op: 'gelu' }, standard)).toBeGreaterThan(1)
    expect(ratio(history, { impl: 'scalar' })).toBe(1)
  })

  it('take nothing from a device of another name', () => {
    expect(ratio([{ ...took(5), deviceName: 'Another CPU' }])).toBe(1)
    expect(paced([{ ...took(5), deviceName: 'Another CPU' }])).toEqual([testDevice()])
  })
})
