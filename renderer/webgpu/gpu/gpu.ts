import { CaseError } from '@core/backend'
import { ADAPTER_CHOICES, findAdapter, isSoftware, largestWorkgroup, openDevice, wordsOf, type AdapterChoice, type DeviceOptions } from './adapter'
import type { SubgroupMatrices } from '../kernels/types'
import { findSubgroups, matricesFor } from './subgroups'

/** A device in use, with the pipelines compiled on it. */
export interface Gpu {
  readonly adapter: GPUAdapter
  readonly device: GPUDevice
  readonly software: boolean
  /** Most bytes of one binding. */
  readonly bindingBytes: number
  /** Threads of the smallest subgroup, where kernels may use subgroups. */
  readonly subgroups: number | undefined
  /** Products of matrices that kernels may have subgroups do. */
  readonly matrices: readonly SubgroupMatrices[] | undefined
  /** Threads of the largest workgroup that kernels use. */
  readonly threads: number
  /** A few bytes that steps name as written to run one after the other; nothing of use is in them. */
  readonly fence: GPUBuffer
  /** Why the device is gone, in the browser's words; undefined while it works. */
  readonly lost: string | undefined
  /** Pipelines that were compiled so far. */
  readonly compiled: number
  /** Compiled once per WGSL text; later cases with the same text pay nothing. */
  pipeline(wgsl: string, layout?: GPUPipelineLayout): Promise<GPUComputePipeline>
}

async function createGpu(adapter: GPUAdapter, options: DeviceOptions): Promise<Gpu> {
  const device = await openDevice(adapter, options)
  const pipelines = new Map<string, Promise<GPUComputePipeline>>()
  let lost: string | undefined
  let compiled = 0
  void device.lost.then((info) => (lost = info.message || info.reason))
  // Errors are caught by the scopes around each step; one that is not must not end the page.
  device.addEventListener('uncapturederror', (event) => event.preventDefault())
  const subgroups = await findSubgroups(device, adapter.info)
  if (options.subgroups === 'on' && subgroups === undefined) throw new Error('subgroups were asked for, and this device has none that kernels can use')
  return {
    adapter,
    device,
    subgroups,
    matrices: matricesFor(device.features, adapter.info, subgroups),
    threads: largestWorkgroup(device.limits),
    bindingBytes: Math.min(options.bindingBytes ?? Infinity, device.limits.maxStorageBufferBindingSize),
    software: isSoftware(wordsOf(adapter)),
    fence: device.createBuffer({ size: 16, usage: GPUBufferUsage.STORAGE, label: 'fence' }),
    get lost() {
      return lost
    },
    get compiled() {
      return compiled
    },
    pipeline(wgsl, layout) {
      const known = pipelines.get(wgsl)
      if (known) return known
      const made = device.createComputePipelineAsync({ layout: layout ?? 'auto', compute: { module: device.createShaderModule({ code: wgsl }), entryPoint: 'main' } })
      pipelines.set(wgsl, made)
      compiled++
      made.catch(() => pipelines.delete(wgsl))
      return made
    },
  }
}

/** Keeps one device and replaces it after it was lost. */
export interface GpuHolder {
  /** The device, or why there is none. */
  get(): Promise<Gpu | { reason: string }>
}

export function createGpuHolder(options: DeviceOptions = {}, choice: AdapterChoice = ADAPTER_CHOICES[0]): GpuHolder {
  let current: Gpu | undefined
  return {
    async get() {
      if (current && current.lost === undefined) return current
      current = undefined
      const adapter = await findAdapter(choice)
      if ('reason' in adapter) return adapter
      try {
        current = await createGpu(adapter, options)
        return current
      } catch (error) {
        return { reason: `Chromium found a WebGPU adapter but could not open it: ${wordsIn(error)}` }
      }
    },
  }
}

const wordsIn = (error: unknown) => (error instanceof Error ? error.message : String(error))

const SCOPES: readonly GPUErrorFilter[] = ['validation', 'out-of-memory', 'internal']

/**
 * Does `work` and turns what WebGPU reports meanwhile into a CaseError: out of memory, a lost device, a shader or
 * command that was refused. `what` completes "The device ... while ...", e.g. `allocating 3 buffers`.
 */
export async function guarded<T>(gpu: Gpu, what: string, work: () => Promise<T>): Promise<T> {
  const { device } = gpu
  for (const scope of SCOPES) device.pushErrorScope(scope)
  const outcome = await work().then((value) => ({ value }), (error: unknown) => ({ error }))
  const reported = await Promise.all(SCOPES.map(() => device.popErrorScope().catch(() => null)))
  // A loss is announced by a promise of its own, a turn later than the failures it causes.
  await new Promise<void>((resolve) => queueMicrotask(resolve))
  if (gpu.lost !== undefined) throw new CaseError('device-lost', `The WebGPU device was lost while ${what}; the next case gets a new one.`, gpu.lost)
  // Scopes are popped in the opposite order of SCOPES.
  const [internal, memory, validation] = reported
  if (memory) throw new CaseError('out-of-memory', `The WebGPU device ran out of memory while ${what}.`, memory.message)
  const refused = validation ?? internal
  if (refused) throw new CaseError('kernel-failed', `WebGPU refused something while ${what}.`, refused.message)
  if ('error' in outcome) {
    if (outcome.error instanceof CaseError) throw outcome.error
    throw new CaseError('kernel-failed', `WebGPU failed while ${what}.`, wordsIn(outcome.error))
  }
  return outcome.value
}
