import { CaseError } from '@core/backend'
import { DTYPE_BYTES, type Dtype } from '@core/case'
import { decode, sentinelBits } from '@core/numbers'
import { fillFactor, streamKeys, type FillSpec } from '@core/random'
import { THREADS } from '../wgsl/header'
import countText from '../shaders/count.wgsl?raw'
import fillText from '../shaders/fill.wgsl?raw'
import poisonText from '../shaders/poison.wgsl?raw'
import type { Gpu } from './gpu'

/** A tensor in device memory, padded with zeros to whole vectors of four elements so that no kernel needs a tail. */
export interface Tensor {
  buffer: GPUBuffer
  elements: number
  dtype: Dtype
}

const ALIGNMENT = 16
const MAX_GROUPS = 65535

/** Bytes a tensor takes, padding included. */
export const tensorBytes = (elements: number, dtype: Dtype): number => Math.ceil((elements * DTYPE_BYTES[dtype]) / ALIGNMENT) * ALIGNMENT

/** Checks a size against the device's limits, which would else be refused in words about buffers. */
export function checkSize(gpu: Gpu, bytes: number, what: string): void {
  const { maxStorageBufferBindingSize, maxBufferSize } = gpu.device.limits
  const limit = Math.min(maxStorageBufferBindingSize, maxBufferSize)
  if (bytes > limit) throw new CaseError('unsupported', `${what} needs ${bytes} bytes; this WebGPU device allows ${limit} for one tensor.`)
}

/** Zeroed by WebGPU. */
export function createTensor(gpu: Gpu, elements: number, dtype: Dtype, label: string): Tensor {
  const size = tensorBytes(elements, dtype)
  checkSize(gpu, size, `The tensor ${label}`)
  const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST
  return { buffer: gpu.device.createBuffer({ size, usage, label }), elements, dtype }
}

/** A uniform buffer holding these bytes. */
export function createUniform(gpu: Gpu, words: Uint32Array<ArrayBuffer>): GPUBuffer {
  const buffer = gpu.device.createBuffer({ size: Math.max(32, words.byteLength), usage: GPUBufferUsage.UNIFORM | GPUBufferUsage.COPY_DST })
  gpu.device.queue.writeBuffer(buffer, 0, words)
  return buffer
}

const groupsFor = (words: number) => Math.min(MAX_GROUPS, Math.max(1, Math.ceil(words / THREADS)))

/** One dispatch of an own shader over each tensor, all with the same uniform; they are of one size. */
async function sweep(gpu: Gpu, wgsl: string, tensors: readonly Tensor[], uniform: Uint32Array<ArrayBuffer>, more: readonly GPUBuffer[] = []): Promise<void> {
  const pipeline = await gpu.pipeline(wgsl)
  const settings = createUniform(gpu, uniform)
  const encoder = gpu.device.createCommandEncoder()
  const pass = encoder.beginComputePass()
  pass.setPipeline(pipeline)
  for (const { buffer } of tensors) {
    pass.setBindGroup(0, gpu.device.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries: [buffer, settings, ...more].map((bound, binding) => ({ binding, resource: { buffer: bound } })) }))
    pass.dispatchWorkgroups(groupsFor(buffer.size / 4))
  }
  pass.end()
  gpu.device.queue.submit([encoder.finish()])
  settings.destroy()
}

const halves = (dtype: Dtype) => (dtype === 'f16' ? 1 : 0)

/** Makes an input by the rule in core/random.ts, the same in each of the tensors. */
export async function fillTensors(gpu: Gpu, tensors: readonly Tensor[], seed: number, stream: number, fill: FillSpec): Promise<void> {
  const first = tensors[0]
  if (!first) return
  const { key0, key1 } = streamKeys(seed, stream)
  const uniform = new Uint32Array([first.elements, key0, key1, fill.kind === 'positive' ? 1 : 0, 0, halves(first.dtype)])
  new Float32Array(uniform.buffer)[4] = fillFactor(fill)
  await sweep(gpu, fillText, tensors, uniform)
}

/** Fills whole buffers with the sentinel of their type. */
export async function poisonTensors(gpu: Gpu, tensors: readonly Tensor[]): Promise<void> {
  const first = tensors[0]
  if (!first) return
  const bits = sentinelBits(first.dtype)
  await sweep(gpu, poisonText, tensors, new Uint32Array([first.dtype === 'f16' ? (bits << 16) | bits : bits, 0, 0, 0]))
}

/** Elements of all these tensors that still hold the sentinel; below 2^32. */
export async function countSentinels(gpu: Gpu, tensors: readonly Tensor[]): Promise<number> {
  const first = tensors[0]
  if (!first) return 0
  const found = gpu.device.createBuffer({ size: 4, usage: GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC })
  try {
    await sweep(gpu, countText, tensors, new Uint32Array([first.elements, sentinelBits(first.dtype), halves(first.dtype), 0]), [found])
    const [bytes] = await readBytes(gpu, found, [{ offset: 0, size: 4 }])
    return new Uint32Array(bytes!)[0]!
  } finally {
    found.destroy()
  }
}

/** Elements of each range as f32: one way to the device and back for all of them. */
export async function readTensor(gpu: Gpu, tensor: Tensor, ranges: readonly { start: number; count: number }[]): Promise<Float32Array[]> {
  const size = DTYPE_BYTES[tensor.dtype]
  // Copies begin and end at whole words; an f16 range may begin and end between them.
  const words = ranges.map(({ start, count }) => {
    const offset = Math.floor((start * size) / 4) * 4
    return { offset, size: Math.ceil(((start + count) * size) / 4) * 4 - offset, skipped: start - offset / size, count }
  })
  const parts = await readBytes(gpu, tensor.buffer, words)
  return words.map(({ skipped, count }, i) => decode(parts[i]!, tensor.dtype).subarray(skipped, skipped + count))
}

/** Bytes of parts of a buffer; offsets and sizes are multiples of four. */
async function readBytes(gpu: Gpu, source: GPUBuffer, parts: readonly { offset: number; size: number }[]): Promise<ArrayBuffer[]> {
  const total = parts.reduce((sum, { size }) => sum + size, 0)
  const staging = gpu.device.createBuffer({ size: total, usage: GPUBufferUsage.COPY_DST | GPUBufferUsage.MAP_READ })
  try {
    const encoder = gpu.device.createCommandEncoder()
    let at = 0
    const places = parts.map(({ offset, size }) => {
      encoder.copyBufferToBuffer(source, offset, staging, at, size)
      at += size
      return { from: at - size, to: at }
    })
    gpu.device.queue.submit([encoder.finish()])
    await staging.mapAsync(GPUMapMode.READ)
    const mapped = staging.getMappedRange()
    return places.map(({ from, to }) => mapped.slice(from, to))
  } finally {
    staging.destroy()
  }
}
