import { z } from 'zod'
import type { EnergyMeter } from '@core/backend'
import type { EnergySource, NativeAddon, NativeEnergyRecorder } from './addon'

const readings = z.instanceof(Float64Array)
const traceSchema = z.object({ source: z.string().max(80), tickMs: readings, joules: readings, powerMs: readings, watts: readings })

/** The counter of a device by the addon, or why it cannot be read. `graphs`: whether the device takes calls in graphs. */
export function energyMeter(addon: Pick<NativeAddon, 'EnergyRecorder'>, source: EnergySource, graphs: boolean): EnergyMeter | { reason: string } {
  const { EnergyRecorder } = addon
  if (!EnergyRecorder) return { reason: 'This build of the native part reads no energy counters: run npm run setup.' }
  try {
    // Whether there is a counter shows when it is opened.
    new EnergyRecorder(source).stop()
  } catch (thrown) {
    return { reason: thrown instanceof Error ? thrown.message : String(thrown) }
  }
  let current: NativeEnergyRecorder | undefined
  return {
    graphs,
    start: async () => {
      current?.stop()
      current = new EnergyRecorder(source)
    },
    stop: async () => {
      const recorder = current
      current = undefined
      if (!recorder) throw new Error('the energy counter was not being read')
      return traceSchema.parse(recorder.stop())
    },
  }
}
