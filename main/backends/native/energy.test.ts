import { expect, it } from 'vitest'
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
