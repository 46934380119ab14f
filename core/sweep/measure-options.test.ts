import { describe, expect, test } from 'vitest'
import { measureOptionTexts, readMeasureOptions } from './measure-options'

describe('options that say how to measure', () => {
  test('are read with their units, and nothing is set that was not given', () => {
    expect(readMeasureOptions({})).toEqual({})
    expect(readMeasureOptions({ rule: 'fixed-count=100', ci: '0.5%', minSamples: '20', minSeconds: '500ms', maxSeconds: '10s', repeats: '5' })).toEqual({
      measure: { rule: { id: 'fixed-count', count: 100 }, relativeCi: 0.005, minSamples: 20, minSeconds: 0.5, maxSeconds: 10 }, repeats: 5,
    })
    expect(readMeasureOptions({ rule: 'fixed-time=0.5s', ci: '0.02', repeats: '1' })).toEqual({ measure: { rule: { id: 'fixed-time', seconds: 0.5 }, relativeCi: 0.02 } })
    expect(readMeasureOptions({ energy: true, rounds: 'on' })).toEqual({ measure: { energy: true, rounds: true } })
    expect(readMeasureOptions({ rounds: 'off' })).toEqual({ measure: { rounds: false } })
    expect(readMeasureOptions({ rounds: 'auto' })).toEqual({})
    expect(() => readMeasureOptions({ rounds: 'maybe' })).toThrow('--rounds maybe is not understood; expected on, off or auto')
    expect(() => readMeasureOptions({ energy: 'yes' })).toThrow('--energy yes is not understood; expected on or off')
    expect(readMeasureOptions({ rule: 'relative-ci' })).toEqual({ measure: { rule: { id: 'relative-ci' } } })
  })

  test('come back from their texts', () => {
    for (const how of [
      {},
      { repeats: 50 },
      { measure: { energy: true } },
      { measure: { rounds: true } },
      { measure: { rule: { id: 'fixed-time' as const, seconds: 0.25 }, relativeCi: 0.003, minSamples: 2, minSeconds: 0, maxSeconds: 0.1 } },
      { measure: { rule: { id: 'fixed-count' as const, count: 1_000_000 } }, repeats: 2 },
    ]) {
      const camel = (name: string) => name.replace(/-(.)/, (_, letter: string) => letter.toUpperCase())
      expect(readMeasureOptions(Object.fromEntries(measureOptionTexts(how).map(([name, text]) => [camel(name), text])))).toEqual(how)
    }
    expect(measureOptionTexts({ measure: { relativeCi: 0.007 } })).toEqual([['ci', '0.7%']])
  })

  test.each([
    [{ rule: 'fixed-count' }, /--rule fixed-count .* expected relative-ci, fixed-count=100 or fixed-time=0\.5s/],
    [{ rule: 'fixed-count=0' }, /^--rule fixed-count=0 .*1 to 1000000 samples/],
    [{ rule: 'fixed-count=1.5' }, /1 to 1000000 samples/],
    [{ rule: 'fixed-time=5h' }, /at most 3600 s/],
    [{ rule: 'fixed-time=1=2' }, /--rule fixed-time=1=2/],
    [{ rule: '' }, /expected relative-ci/],
    [{ ci: 'half' }, /--ci half .* 0\.5% or 0\.005/],
    [{ ci: '150%' }, /--ci 150%/],
    [{ ci: '-1%' }, /--ci -1%/],
    [{ ci: '0' }, /--ci 0 /],
    [{ minSamples: '1' }, /from 2/],
    [{ minSeconds: '1 hour' }, /0\.5s or 500ms/],
    [{ maxSeconds: '0' }, /above 0/],
    [{ maxSeconds: '1e999' }, /--max-seconds 1e999/],
    [{ minSeconds: '5', maxSeconds: '2s' }, /--min-seconds 5 is more than --max-seconds 2s/],
    [{ repeats: '0' }, /--repeats 0 .* 1 to 50/],
    [{ repeats: '2.5' }, /1 to 50/],
    [{ repeats: '51' }, /1 to 50/],
  ])('%j is refused with what was expected', (options, message) => {
    expect(() => readMeasureOptions(options)).toThrow(message)
  })
})
