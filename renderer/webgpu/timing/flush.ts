import flushText from '../shaders/flush.wgsl?raw'
import type { Gpu } from '../gpu/gpu'
import { THREADS } from '../wgsl/header'

/** More than twice the largest last-level cache of a GPU known here. */
const GPU_BYTES = 256 * 2 ** 20
/** A software adapter would spend longer on more than this than on the case. */
const SOFTWARE_BYTES = 8 * 2 ** 20

/** Overwrites the caches before a cold call. */
export interface Flush {
  encode(pass: GPUComputePassEncoder): void
}

/** The buffer that is overwritten, kept for all cases of a device. */
export interface FlushBuffer {
  bytes: number
  /** For a case: its pass is ordered before any that writes `output`. */
  before(output: GPUBuffer): Flush
}

export async function createFlushBuffer(gpu: Gpu): Promise<FlushBuffer> {
  const { device } = gpu
  const bytes = Math.min(gpu.software ? SOFTWARE_BYTES : GPU_BYTES, device.limits.maxStorageBufferBindingSize, device.limits.maxBufferSize)
  const layout = device.createBindGroupLayout({ entries: [0, 1].map((binding) => ({ binding, visibility: GPUShaderStage.COMPUTE, buffer: { type: 'storage' } })) })
  const pipeline = await gpu.pipeline(flushText, device.createPipelineLayout({ bindGroupLayouts: [layout] }))
  const filler = device.createBuffer({ size: Math.floor(bytes / 16) * 16, usage: GPUBufferUsage.STORAGE, label: 'flush' })
  const groups = Math.min(65535, Math.ceil(bytes / 16 / THREADS))
  return {
    bytes,
    before: (output) => {
      const bindings = device.createBindGroup({ layout, entries: [filler, output].map((buffer, binding) => ({ binding, resource: { buffer } })) })
      return {
        encode(pass) {
          pass.setPipeline(pipeline)
          pass.setBindGroup(0, bindings)
          pass.dispatchWorkgroups(groups)
        },
      }
    },
  }
}
