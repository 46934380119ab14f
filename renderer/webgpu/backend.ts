import { CaseError, type Backend } from '@core/backend'
import { openCase } from './case'
import { describeDevice, DEVICE_ID, IMPL_ID, unavailableDevice } from './describe'
import { createGpuHolder, guarded, type Gpu } from './gpu/gpu'
import { createClock, type Clock } from './timing/clock'

/** WebGPU in this Chromium: one device, whichever adapter the browser prefers. */
export function createWebgpuBackend(): Backend {
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
        return ['reason' in found ? unavailableDevice(found.reason) : describeDevice(found.gpu, found.clock)]
      } catch (error) {
        const detail = error instanceof CaseError && error.detail ? ` ${error.detail}` : ''
        return [unavailableDevice(`${error instanceof Error ? error.message : String(error)}${detail}`)]
      }
    },
    async open(problem) {
      const { device, impl } = problem.case
      if (device !== DEVICE_ID) throw new CaseError('unsupported', `There is no WebGPU device "${device}"; there is ${DEVICE_ID}.`)
      if (impl !== IMPL_ID) throw new CaseError('unsupported', `WebGPU has no implementation "${impl}"; it has ${IMPL_ID}.`)
      const found = await ready()
      if ('reason' in found) throw new CaseError('unsupported', found.reason)
      return openCase(found.gpu, found.clock, problem)
    },
  }
}
