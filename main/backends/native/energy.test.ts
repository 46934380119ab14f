import { expect, it } from 'vitest'
import type { Device } from '@core/backend'
import { testDevice, testGpu } from '@core/testing'
import type { NativeAddon } from './addon'
import { NativeBackend } from './backend'
import { energyMeter } from './energy'

const trace = { source: 'NVML total energy', tickMs: Float64Array.of(1, 2), joules: Float64Array.of(5, 6), powerMs: new Float64Array(), watts: new Float64Array() }

it('reads a counter between start and stop', async () => {
  const opened: unknown[] = []
  const meter = energyMeter({ EnergyRecorder: class { constructor(source: unknown) { opened.push(source) } stop = () => trace } }, { cuda: 1 }, true)
  if ('reason' in meter) throw new Error(meter.reason)
  expect(meter.graphs).toBe(true)
  await meter.start()
  expect(await meter.stop()).toEqual(trace)
  await expect(meter.stop()).rejects.toThrow('was not being read')
  expect(opened).toEqual([{ cuda: 1 }, { cuda: 1 }])
})

it('a device without a counter says so, and is asked once', async () => {
  const opened: unknown[] = []
  class Recorder {
    constructor(source: object) {
      opened.push(source)
      if ('cpu' in source) throw new Error('The processor has no energy counter.')
    }
    stop = () => trace
  }
  const counters = async (id: 'cpu' | 'cuda', device: Device) => {
    const backend = new NativeBackend({ devices: () => [device], EnergyRecorder: Recorder } as unknown as NativeAddon, id)
    return [await backend.devices(), await backend.devices()].map(([one]) => one!.energyCounter)
  }
  expect([await counters('cpu', testDevice()), await counters('cuda', testGpu())]).toEqual([[false, false], [undefined, undefined]])
  expect(opened).toEqual([{ cpu: true }, { cuda: 0 }])
})

it('says why there is no counter', () => {
  class Locked {
    constructor() {
      throw new Error('The energy counter of the processor may be read by root only.')
    }
    stop = () => undefined
  }
  expect(energyMeter({ EnergyRecorder: Locked }, { cpu: true }, false)).toEqual({ reason: 'The energy counter of the processor may be read by root only.' })
  expect(energyMeter({}, { cpu: true }, false)).toEqual({ reason: expect.stringContaining('npm run setup') })
})
