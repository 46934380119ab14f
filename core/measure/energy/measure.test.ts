import { afterEach, describe, expect, it, vi } from 'vitest'
import { CaseError, type CaseErrorCode, type EnergyTrace, type PreparedCase, type SampleRequest } from '../../backend'
import { measureEnergy } from './measure'

const asked = (energyMeter?: PreparedCase['energyMeter']) =>
  measureEnergy({ prepared: { ...(energyMeter ? { energyMeter } : {}) } as PreparedCase, callNs: 1000, idle: new Map(), device: 'cpu/cpu', now: () => 0, onBatch: () => undefined })

afterEach(() => void vi.useRealTimers())

it('gives the reason where no energy counter can be read', async () => {
  expect(await asked()).toEqual({ reason: 'This backend cannot read an energy counter.' })
  expect(await asked(() => ({ reason: 'There is none.' }))).toEqual({ reason: 'There is none.' })
})

/** A device of 300 W while it computes and 75 W at rest, whose calls take 1 ms; its counter ticks every 100 ms. Time passes by its calls and by waiting. */
function device(change: Partial<PreparedCase> = {}) {
  vi.useFakeTimers()
  const busy: [from: number, to: number][] = []
  const now = () => performance.now()
  const compute = async (ms: number) => {
    const from = now()
    await vi.advanceTimersByTimeAsync(ms)
    busy.push([from, now()])
  }
  const joulesAt = (ms: number) => (75 * ms + 225 * busy.reduce((sum, [from, to]) => sum + Math.max(0, Math.min(to, ms) - from), 0)) / 1000
  let started = 0
  const prepared: Partial<PreparedCase> = {
    energyMeter: () => ({
      graphs: false,
      start: async () => void (started = now()),
      stop: async (): Promise<EnergyTrace> => {
        const tickMs = Float64Array.from({ length: Math.floor((now() - started) / 100) }, (_, i) => (i + 1) * 100)
        return { source: 'test', tickMs, joules: tickMs.map((ms) => joulesAt(started + ms)), powerMs: new Float64Array(), watts: new Float64Array() }
      },
    }),
    sample: async ({ count, inner }: SampleRequest) => {
      await compute(count * inner)
      return { samplesNs: new Float64Array(count).fill(1e6), inner, state: {} }
    },
    ...change,
  }
  const measure = async () => {
    const energy = measureEnergy({ prepared: prepared as PreparedCase, callNs: 1e6, idle: new Map(), device: 'test/0', now, onBatch: () => undefined })
    // The rest before idle power is known.
    const [found] = await Promise.all([energy, vi.advanceTimersByTimeAsync(5000)])
    return found
  }
  return { compute, measure }
}

describe('calls without rest', () => {
  it('have the energy of the counter between its ticks, and idle power apart', async () => {
    const found = await device().measure()
    if ('reason' in found) throw new Error(found.reason)
    expect(found.energy.joulesPerCall).toBeCloseTo(0.3, 6)
    expect(found.energy.idleWatts).toBeCloseTo(75, 6)
    expect(found.energy).toMatchObject({ windows: 5, source: 'test' })
    expect(found.notes).toEqual([])
  })

  it('are counted untimed where samples make other calls beside those that they report', async () => {
    const calls: number[] = []
    const one = device({
      sample: () => Promise.reject(new Error('no samples are asked for')),
      runCalls: async (count) => {
        calls.push(count)
        await one.compute(count)
      },
    })
    const found = await one.measure()
    if ('reason' in found) throw new Error(found.reason)
    expect(found.energy.joulesPerCall).toBeCloseTo(0.3, 6)
    expect(calls.every((count) => count === 500)).toBe(true)
  })

  it('that end the process fail the case; other failures leave it without energy', async () => {
    const failing = (code: CaseErrorCode) => device({ runCalls: () => Promise.reject(new CaseError(code, 'it ended')) }).measure()
    await expect(failing('kernel-failed')).rejects.toThrow('it ended')
    await expect(failing('device-lost')).rejects.toThrow('it ended')
    expect(await failing('internal')).toEqual({ reason: 'The energy of a call could not be measured: it ended' })
  })

  it('that leave gaps include the waiting, and a note says so', async () => {
    const one = device({
      runCalls: async (count) => {
        await one.compute(count)
        await vi.advanceTimersByTimeAsync(count)
      },
    })
    const found = await one.measure()
    if ('reason' in found) throw new Error(found.reason)
    expect(found.energy.joulesPerCall).toBeCloseTo(0.375, 3)
    expect(found.notes).toEqual([expect.stringMatching(/calls filled 50 % of the time/)])
  })
})
