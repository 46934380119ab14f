import { CaseError, type Backend } from '@core/backend'
import { openCase } from './case'
import { describeDevice, DEVICE_ID, unavailableDevice } from './describe'
import { createGpuHolder, guarded, type Gpu } from './gpu/gpu'
import { implementationsOf } from './kernels/registry'
import { createClock, type Clock } from './timing/clock'

export interface WebgpuOptions {
  /** Also offer kernels that cheat (red-team/kernels.ts), to see that none of them is believed. */
  redTeam?: boolean
}

/** WebGPU in this Chromium: one device, whichever adapter the browser prefers. */
export function createWebgpuBackend(options: WebgpuOptions = {}): Backend {
  const implementations = implementationsOf(options.redTeam ?? false)
  const holder = createGpuHolder()
  const clocks = new WeakMap<Gpu, Clock>()

  async function ready(): Promise<{ gpu: Gpu; clock: Clock } | { reason: string }> {
    const gpu = await holder.get()
    if ('reason' in gpu) return gpu
    const clock = clocks.get(gpu) ?? (await guarded(gpu, 'being prepared', () => createClock(gpu)))
    clocks.set(gpu, clock)
    return { gpu, clock }
  }

  return {
    id: 'webgpu',
    async devices() {
      try {
        const found = await ready()
        return ['reason' in found ? unavailableDevice(found.reason, implementations) : describeDevice(found.gpu, found.clock, implementations)]
      } catch (error) {
        const detail = error instanceof CaseError && error.detail ? ` ${error.detail}` : ''
        return [unavailableDevice(`${error instanceof Error ? error.message : String(error)}${detail}`, implementations)]
      }
    },
    async open(problem) {
      const { device, impl } = problem.case
      if (device !== DEVICE_ID) throw new CaseError('unsupported', `There is no WebGPU device "${device}"; there is ${DEVICE_ID}.`)
      const implementation = implementations.find(({ id }) => id === impl)
      if (!implementation) throw new CaseError('unsupported', `WebGPU has no implementation "${impl}"; it has ${implementations.map(({ id }) => id).join(', ')}.`)
      const attempt = async () => {
        const found = await ready()
        if ('reason' in found) throw new CaseError('unsupported', found.reason)
        return openCase(found.gpu, found.clock, implementation, problem)
      }
      // A device that was lost between two cases may not have said so yet; that is not the fault of this case.
      return attempt().catch((error: unknown) => {
        if (error instanceof CaseError && error.code === 'device-lost') return attempt()
        throw error
      })
    },
  }
}
