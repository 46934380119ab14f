import type { Device, PreparedCase } from '@core/backend'
import type { MeasureSettings } from '@core/measure/settings'
import { median } from '@core/stats/descriptive'
import { caseOn, type Bed } from './bed'

/** Nanoseconds per iteration of a spin, asked for again and again. */
export interface SpinRate {
  /** From so many calls of each length. */
  now(calls: number): Promise<number>
  close(): Promise<void>
}

/** Length of the short calls, of the long ones: as little as is still a rest for who waits, since waking up takes a microsecond less after some ten. */
const SHORT = 0.1

/**
 * The rate from calls of this many iterations and of a tenth of them, by turns, with nothing of our sampling: each call is
 * timed by process.hrtime around it, and what both have in common falls out. Medians, as of the rungs; what the system
 * takes of a long time is in them as it is in samples as long. Both cases stay open until closed. A page has no finer clock
 * than the device's own: on WebGPU the rate is that of long calls by our loop.
 */
export async function openSpinRate(bed: Bed, device: Device, iterations: number, settings: MeasureSettings): Promise<SpinRate> {
  const spin = (count: number) => caseOn(device, 'spin', { iterations: count }, 'hot', { threads: device.threads[0] })!
  if (device.backend === 'webgpu') {
    return {
      now: async (calls) => (await bed.measure(spin(iterations), { ...settings, rule: { id: 'fixed-count', count: calls }, maxWarmupSeconds: 0.05 })).summary!.medianNs / iterations,
      close: () => Promise.resolve(),
    }
  }
  const short = Math.round(iterations * SHORT)
  const [longCase, shortCase] = [await bed.open(spin(iterations), settings.seed), await bed.open(spin(short), settings.seed)]
  const time = async (prepared: PreparedCase) => {
    const from = process.hrtime.bigint()
    await prepared.run()
    return Number(process.hrtime.bigint() - from)
  }
  // The first call of a case finds nothing warm.
  await time(longCase)
  await time(shortCase)
  return {
    async now(calls) {
      const times: [number[], number[]] = [[], []]
      for (let i = 0; i < calls; i++) {
        times[0].push(await time(longCase))
        times[1].push(await time(shortCase))
      }
      return (median(times[0])! - median(times[1])!) / (iterations - short)
    },
    async close() {
      await longCase.dispose()
      await shortCase.dispose()
    },
  }
}
