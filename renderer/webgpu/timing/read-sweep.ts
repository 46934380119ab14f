import { sweepSizes, type ReadRate } from '@core/roofline/last-level'
import type { Gpu } from '../gpu/gpu'
import { createUniform } from '../gpu/tensors'
import { memoryOf, wordsOf } from '../gpu/adapter'
import readText from '../shaders/read.wgsl?raw'
import { bindingTypes, THREADS } from '../wgsl/header'
import { passTimes } from './arithmetic'
import type { Marks } from './marks'

const MiB = 2 ** 20
const SMALLEST = MiB
const LARGEST = 1024 * MiB
/** Share of the memory that the sweep may take. */
const MEMORY_SHARE = 1 / 8
/** Of the passes over a size the first fills the cache; the fastest of the others counts. */
const PASSES = 4
/** A pass is at least this long, in ns, where its size does not make it so. */
const PASS_NS = 5e5
/** Vectors that a thread reads in a round. */
const EACH = 8
/** The whole sweep takes about this long at most, in ms: a slow device leaves out the largest sizes. */
const BUDGET_MS = 1500

/** Bandwidth of reads by size, smallest first, by the device's timestamps. Fewer sizes where memory or time does not allow more. */
export async function sweepReads(gpu: Gpu, marks: Marks): Promise<ReadRate[]> {
  const { device } = gpu
  const { maxStorageBufferBindingSize, maxBufferSize } = device.limits
  const most = Math.min(LARGEST, maxStorageBufferBindingSize, maxBufferSize, memoryOf(wordsOf(gpu.adapter), device.limits, gpu.software).bytes * MEMORY_SHARE)
  if (most < SMALLEST) return []
  const sizes = sweepSizes(SMALLEST, most)
  const set = await roomFor(device, sizes.at(-1)!)
  if (!set) return []
  const layout = device.createBindGroupLayout({ entries: bindingTypes(readText).map((type, binding) => ({ binding, visibility: GPUShaderStage.COMPUTE, buffer: { type } })) })
  const pipeline = await gpu.pipeline(readText, device.createPipelineLayout({ bindGroupLayouts: [layout] }))
  const rounds = createUniform(gpu, new Uint32Array(4))
  const found: ReadRate[] = []
  const until = performance.now() + BUDGET_MS
  try {
    for (const bytes of sizes) {
      if (performance.now() > until) break
      // By the size before, as fast as it was.
      const times = Math.max(2, Math.ceil((PASS_NS * (found.at(-1)?.rate ?? 1)) / bytes))
      device.queue.writeBuffer(rounds, 0, Uint32Array.of(times))
      const group = device.createBindGroup({ layout, entries: [{ binding: 0, resource: { buffer: set, size: bytes } }, { binding: 1, resource: { buffer: gpu.fence } }, { binding: 2, resource: { buffer: rounds } }] })
      const lane = marks.lane()
      const encoder = device.createCommandEncoder()
      for (let i = 0; i < PASSES; i++) {
        const pass = encoder.beginComputePass({ timestampWrites: lane.on(i) })
        pass.setPipeline(pipeline)
        pass.setBindGroup(0, group)
        pass.dispatchWorkgroups(Math.max(1, Math.min(65535, Math.floor(bytes / 16 / THREADS / EACH))))
        pass.end()
      }
      const taken = passTimes(await lane.submit(encoder, PASSES)).slice(1).filter((ns) => ns !== undefined && ns > 0) as number[]
      if (taken.length === 0) break
      found.push({ bytes, rate: (bytes * times) / Math.min(...taken) })
    }
  } finally {
    set.destroy()
    rounds.destroy()
  }
  return found
}

/** A buffer of so many bytes, or none where the device has no memory for it. */
async function roomFor(device: GPUDevice, size: number): Promise<GPUBuffer | undefined> {
  device.pushErrorScope('out-of-memory')
  const buffer = device.createBuffer({ size, usage: GPUBufferUsage.STORAGE, label: 'read sweep' })
  if (!(await device.popErrorScope())) return buffer
  buffer.destroy()
  return undefined
}
