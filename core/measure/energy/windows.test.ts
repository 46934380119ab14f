import { describe, expect, it } from 'vitest'
import type { EnergyTrace } from '../../backend'
import { energyOf, energyWindows, meanWatts, perJoule } from './windows'

/** A counter that ticks every 100 ms at a power, and power that is sampled every 50 ms. */
function trace(seconds: number, watts: (s: number) => number, sampled = watts): EnergyTrace {
  const tickMs = Array.from({ length: seconds * 10 }, (_, i) => 37 + i * 100)
  let sum = 1e6
  const joules = tickMs.map((ms, i) => (i === 0 ? sum : (sum += watts(ms / 1000) * 0.1)))
  const powerMs = Array.from({ length: seconds * 20 + 2 }, (_, i) => i * 50)
  return { source: 'test', tickMs: Float64Array.from(tickMs), joules: Float64Array.from(joules), powerMs: Float64Array.from(powerMs), watts: Float64Array.from(powerMs, (ms) => sampled(ms / 1000)) }
}
const marks = (seconds: number, callsPerSecond: number) => Array.from({ length: seconds * 5 + 1 }, (_, i) => ({ ms: i * 200, calls: i * 0.2 * callsPerSecond }))

describe('windows of energy', () => {
  it('begin and end on ticks, last at least as long as asked, and hold the calls made between', () => {
    const windows = energyWindows(trace(11, () => 300), marks(11, 1000))
    expect(windows).toHaveLength(5)
    for (const window of windows) {
      expect(window.seconds).toBeCloseTo(2, 9)
      expect(window.joules).toBeCloseTo(600, 6)
      expect(window.calls).toBeCloseTo(2000, 6)
      expect(window.sampledJoules).toBeCloseTo(600, 6)
    }
  })

  it('lie within the calls: what the counter saw before and after does not count', () => {
    const windows = energyWindows(trace(20, () => 300), marks(20, 10).filter(({ ms }) => ms >= 5000 && ms <= 12_000))
    expect(windows).toHaveLength(3)
    expect(windows[0]!.calls).toBeCloseTo(20, 6)
  })

  it('have no integral of power where it was not sampled', () => {
    const { powerMs: _ms, watts: _watts, ...rest } = trace(5, () => 300)
    expect(energyWindows({ ...rest, powerMs: new Float64Array(), watts: new Float64Array() }, marks(5, 10))[0]).not.toHaveProperty('sampledJoules')
  })
})

describe('energy per call', () => {
  it('is that of all windows, with an interval that covers how they differ', () => {
    const energy = energyOf(energyWindows(trace(11, (s) => 300 + (s > 4 && s < 6 ? 30 : 0)), marks(11, 1000)), 'test', 75)!
    expect(energy.joulesPerCall).toBeCloseTo(0.306, 2)
    expect(energy.lowJ).toBeLessThan(0.3)
    expect(energy.highJ).toBeGreaterThan(0.32)
    expect(energy).toMatchObject({ windows: 5, idleWatts: 75, source: 'test' })
    expect(energy.watts).toBeCloseTo(306, -1)
    expect(energy.sampledJoulesPerCall! / energy.joulesPerCall).toBeCloseTo(1, 2)
  })

  it('is absent with fewer windows than an interval takes, and where the counter did not move', () => {
    expect(energyOf(energyWindows(trace(9, () => 300), marks(9, 10)), 'test')).toBeUndefined()
    expect(energyOf(energyWindows(trace(11, () => 0), marks(11, 10)), 'test')).toBeUndefined()
  })

  it('gives what a joule buys', () => {
    expect(perJoule({ energy: { joulesPerCall: 0.5, seconds: 10, calls: 1000 }, flops: 1e9, bytes: 2e6 })).toEqual({ flopsPerJoule: 2e9, bytesPerJoule: 4e6, energyDelay: 0.005 })
    expect(perJoule({ energy: { joulesPerCall: 0.5, seconds: 10, calls: 1000 }, flops: 0, bytes: 1 })).not.toHaveProperty('flopsPerJoule')
  })
})

it('tells the power of a device at rest', () => {
  expect(meanWatts(trace(2, () => 75))).toBeCloseTo(75, 6)
  expect(meanWatts({ source: '', tickMs: new Float64Array(1), joules: new Float64Array(1), powerMs: new Float64Array(), watts: new Float64Array() })).toBeUndefined()
})
