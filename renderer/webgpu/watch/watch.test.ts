import { afterEach, describe, expect, it, vi } from 'vitest'
import type { Gpu } from '../gpu/gpu'
import { watchCase as watchGpu, watchEnergy, type HostWatch } from './watch'

/** As `sample` of a case hands it on. */
const watchCase = (...of: Parameters<typeof watchGpu>) => {
  const watched = watchGpu(...of)
  return async (...[count, take]: Parameters<typeof watched>) => {
    const { state, ...taken } = await watched(count, take)
    return { ...taken, state: await state }
  }
}

const gpuOf = (info: object, software = false): Gpu => ({ adapter: { info: { vendor: 'nvidia', architecture: 'hopper', device: '', description: 'NVIDIA H200', ...info } }, software }) as unknown as Gpu
const STATE = { smClockMhz: 1980, powerW: 412.5, throttle: ['power limit'], foreignProcesses: 1 }
const TRACE = { source: 'NVML total energy', tickMs: [10, 110], joules: [5, 35], powerMs: [], watts: [] }
const SAMPLES = Float64Array.of(10, 11, 12)
const take = () => Promise.resolve({ samplesNs: SAMPLES })

function scripted(change: Partial<HostWatch> = {}) {
  const asked: string[] = []
  const note = <T>(what: string, value: T): T => {
    asked.push(what)
    return value
  }
  const host: HostWatch = {
    open: (name) => note(`open ${name}`, Promise.resolve(true)),
    begin: (long) => note(`begin ${long}`, undefined),
    end: () => note('end', Promise.resolve(STATE)),
    startEnergy: () => note('start energy', Promise.resolve(true)),
    stopEnergy: () => note('stop energy', Promise.resolve(TRACE)),
    ...change,
  }
  return { asked, host }
}

afterEach(() => void vi.useRealTimers())

describe('a batch on an NVIDIA card', () => {
  it('carries the state that the card was in', async () => {
    const { asked, host } = scripted()
    const gpu = gpuOf({})
    const watched = watchCase(gpu, host)
    const order = await watched(3, () => {
      asked.push('take')
      return take()
    })
    expect(order).toEqual({ samplesNs: SAMPLES, state: STATE })
    // Another case on the same device does not open it again.
    await watchCase(gpu, host)(3, take)
    expect(asked).toEqual(['open NVIDIA H200', 'begin false', 'take', 'end', 'begin false', 'end'])
  })

  it('counts energy where it will last long enough for the counter', async () => {
    vi.useFakeTimers()
    const { asked, host } = scripted()
    const watched = watchCase(gpuOf({}), host)
    const slow = async () => {
      await vi.advanceTimersByTimeAsync(150)
      return { samplesNs: SAMPLES }
    }
    await watched(3, slow)
    await watched(3, slow)
    await watched(6, slow)
    expect(asked.filter((what) => what.startsWith('begin'))).toEqual(['begin false', 'begin false', 'begin true'])
  })

  it('has no state, and all its samples, where the watch speaks nonsense; the next one does not ask', async () => {
    const { asked, host } = scripted({ end: () => Promise.resolve({ smClockMhz: 'fast' }) })
    const watched = watchCase(gpuOf({}), host)
    expect(await watched(3, take)).toEqual({ samplesNs: SAMPLES, state: {} })
    expect(await watched(3, take)).toEqual({ samplesNs: SAMPLES, state: {} })
    expect(asked).toEqual(['open NVIDIA H200', 'begin false'])
  })

  it.each<[string, Partial<HostWatch>]>([
    ['throws at the end', { end: () => Promise.reject(new Error('gone')) }],
    ['throws at once', { end: () => { throw new Error('gone') } }],
    ['throws at the start', { begin: () => { throw new Error('gone') } }],
    ['cannot be opened', { open: () => Promise.reject(new Error('no')) }],
    ['knows no such card', { open: () => Promise.resolve(false) }],
    ['opens with nonsense', { open: () => Promise.resolve('yes') }],
    ['lost its process', { end: () => Promise.resolve(undefined) }],
  ])('has no state, and all its samples, where the watch %s', async (_what, change) => {
    const watched = watchCase(gpuOf({}), scripted(change).host)
    expect(await watched(3, take)).toEqual({ samplesNs: SAMPLES, state: {} })
    expect(await watched(3, take)).toEqual({ samplesNs: SAMPLES, state: {} })
  })

  it.each<[string, Partial<HostWatch>]>([
    ['the end', { end: () => new Promise(() => undefined) }],
    ['opening', { open: () => new Promise(() => undefined) }],
  ])('waits once for a watch that never answers %s', async (_what, change) => {
    vi.useFakeTimers()
    const watched = watchCase(gpuOf({}), scripted(change).host)
    const first = watched(3, take)
    await vi.advanceTimersByTimeAsync(3000)
    expect(await first).toEqual({ samplesNs: SAMPLES, state: {} })
    // The time stands still: another wait would not end.
    expect(await watched(3, take)).toEqual({ samplesNs: SAMPLES, state: {} })
  })

  it('that fails fails with its own words, and the next one has a state', async () => {
    const { asked, host } = scripted()
    const watched = watchCase(gpuOf({}), host)
    await expect(watched(3, () => Promise.reject(new Error('device lost')))).rejects.toThrow('device lost')
    expect(await watched(3, take)).toEqual({ samplesNs: SAMPLES, state: STATE })
    expect(asked).toEqual(['open NVIDIA H200', 'begin false', 'end', 'begin false', 'end'])
  })
})

it.each([
  ['a software adapter', gpuOf({}, true)],
  ['the card of another maker', gpuOf({ vendor: 'amd' })],
])('nobody is asked about %s', async (_what, gpu) => {
  const { asked, host } = scripted()
  expect(await watchCase(gpu, host)(3, take)).toEqual({ samplesNs: SAMPLES, state: {} })
  expect(asked).toEqual([])
})

it('a page that nobody watches for measures without a state', async () => {
  expect(await watchCase(gpuOf({}), undefined)(3, take)).toEqual({ samplesNs: SAMPLES, state: {} })
})

describe('the energy counter of the card', () => {
  const meterOf = (change: Partial<HostWatch> = {}) => {
    const meter = watchEnergy(gpuOf({}), scripted(change).host)
    if ('reason' in meter) throw new Error(meter.reason)
    return meter
  }

  it('is read beside the page', async () => {
    const meter = meterOf()
    await meter.start()
    expect(await meter.stop()).toEqual({ source: 'NVML total energy', tickMs: Float64Array.of(10, 110), joules: Float64Array.of(5, 35), powerMs: new Float64Array(), watts: new Float64Array() })
    expect(meter.graphs).toBe(false)
  })

  it('fails with the reason, or with that there was no answer', async () => {
    await expect(meterOf({ startEnergy: () => Promise.resolve({ reason: 'This GPU has no counter.' }) }).start()).rejects.toThrow('This GPU has no counter.')
    await expect(meterOf({ open: () => Promise.resolve(false) }).start()).rejects.toThrow('cannot be watched')
    await expect(meterOf({ stopEnergy: () => Promise.resolve({ ...TRACE, joules: ['5'] }) }).stop()).rejects.toThrow('did not answer')
  })

  it('is that of an NVIDIA card alone', () => {
    expect(watchEnergy(gpuOf({ vendor: 'amd' }), scripted().host)).toHaveProperty('reason')
    expect(watchEnergy(gpuOf({}), undefined)).toHaveProperty('reason')
  })
})
