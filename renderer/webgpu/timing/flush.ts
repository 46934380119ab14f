import type { Gpu } from '../gpu/gpu'
import drainText from '../shaders/drain.wgsl?raw'
import flushText from '../shaders/flush.wgsl?raw'
import { bindingTypes, THREADS } from '../wgsl/header'

/** Empties the caches before a cold call: nothing of the case is left in them, and nothing that has yet to be written back. */
export interface Flush {
  /** Bytes that are written, and then as many others read. */
  readonly bytes: number
  /** Runs before whatever comes after it in the queue and names the device's fence. */
  encode(pass: GPUComputePassEncoder): void
}

/** Made once for all cases of a device, whose last-level cache has at most `cacheBytes` bytes. */
export async function createFlush(gpu: Gpu, cacheBytes: number): Promise<Flush> {
  const { device } = gpu
  const { maxStorageBufferBindingSize, maxBufferSize } = device.limits
  const bytes = Math.floor(Math.min(2 * cacheBytes, maxStorageBufferBindingSize, maxBufferSize) / 16) * 16
  const groups = Math.min(65535, Math.ceil(bytes / 16 / THREADS))
  const sweeps = await Promise.all(
    [flushText, drainText].map(async (wgsl) => {
      const layout = device.createBindGroupLayout({ entries: bindingTypes(wgsl).map((type, binding) => ({ binding, visibility: GPUShaderStage.COMPUTE, buffer: { type } })) })
      const pipeline = await gpu.pipeline(wgsl, device.createPipelineLayout({ bindGroupLayouts: [layout] }))
      const filler = device.createBuffer({ size: bytes, usage: GPUBufferUsage.STORAGE, label: 'flush' })
      return { pipeline, bindings: device.createBindGroup({ layout, entries: [filler, gpu.fence].map((buffer, binding) => ({ binding, resource: { buffer } })) }) }
    }),
  )
  return {
    bytes,
    encode(pass) {
      for (const { pipeline, bindings } of sweeps) {
        pass.setPipeline(pipeline)
        pass.setBindGroup(0, bindings)
        pass.dispatchWorkgroups(groups)
      }
    },
  }
}

/** Where the device's own cannot be measured: as much as the last-level cache of most GPUs. */
const GPU_BYTES = 128 * 2 ** 20
/** A software adapter would spend longer on sweeping more than this than on the case. */
const SOFTWARE_BYTES = 4 * 2 ** 20

/** What the last-level cache of a device is taken for where it could not be measured, in bytes. */
export const assumedCacheBytes = (software: boolean): number => (software ? SOFTWARE_BYTES : GPU_BYTES)
