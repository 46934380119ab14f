import { CaseError, type OutputScan } from '@core/backend'
import { STORAGE_BYTES, type StorageType } from '@core/case'
import { decode, SENTINEL, type Values } from '@core/values/numbers'
import { fillWords, type FillSpec } from '@core/values/random'
import { THREADS } from '../wgsl/header'
import fillText from '../shaders/fill.wgsl?raw'
import poisonText from '../shaders/poison.wgsl?raw'
import scanText from '../shaders/scan.wgsl?raw'
import type { Gpu } from './gpu'

/** A tensor in device memory, padded with zeros to whole vectors of four elements so that no kernel needs a tail. */
export interface Tensor {
  buffer: GPUBuffer
  elements: number
  storage: StorageType
}

const ALIGNMENT = 16
const MAX_GROUPS = 65535
/** Bytes of a uniform that every device binds. */
const UNIFORM_BYTES = 65536

/** Bytes a tensor takes, padding included. */
export const tensorBytes = (elements: number, storage: StorageType): number => Math.ceil((elements * STORAGE_BYTES[storage]) / ALIGNMENT) * ALIGNMENT

/** Most bytes of one tensor: of a binding, or of a buffer where kernels bind `inParts`. */
export const maxTensorBytes = ({ device, bindingBytes }: Gpu, inParts = false): number => (inParts ? device.limits.maxBufferSize : Math.min(bindingBytes, device.limits.maxBufferSize))

/** Checks the size of a tensor against the device's limits: WebGPU would refuse it in a message about buffers. */
export function checkSize(gpu: Gpu, bytes: number, tensor: string, inParts = false): void {
  const limit = maxTensorBytes(gpu, inParts)
  if (bytes > limit) throw new CaseError('unsupported', `The tensor ${tensor} needs ${bytes} bytes; this WebGPU device allows ${limit} for one tensor. Choose a smaller size.`)
}

/** The same for a scratch buffer of the kernel. */
export function checkScratchSize(gpu: Gpu, bytes: number): void {
  const limit = maxTensorBytes(gpu)
  if (bytes > limit) throw new CaseError('unsupported', `The kernel needs ${bytes} bytes of scratch memory in one buffer; this WebGPU device allows ${limit}. Choose a smaller size.`)
}

/** Zeroed by WebGPU. */
export function createTensor(gpu: Gpu, elements: number, storage: StorageType, label: string, inParts = false): Tensor {
  const size = tensorBytes(elements, storage)
  checkSize(gpu, size, label, inParts)
  const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST | (size <= UNIFORM_BYTES ? GPUBufferUsage.UNIFORM : 0)
  return { buffer: gpu.device.createBuffer({ size, usage, label }), elements, storage }
}

/** A uniform buffer holding these bytes. */
export function createUniform(gpu: Gpu, words: Uint32Array<ArrayBuffer>): GPUBuffer {
  const buffer = gpu.device.createBuffer({ size: Math.max(32, words.byteLength), usage: GPUBufferUsage.UNIFORM | GPUBufferUsage.COPY_DST })
  gpu.device.queue.writeBuffer(buffer, 0, words)
  return buffer
}

const groupsFor = (words: number) => Math.min(MAX_GROUPS, Math.max(1, Math.ceil(words / THREADS)))

/** Elements of a tensor that one binding holds. */
export interface Window {
  first: number
  count: number
}

/** What a part of a tensor may begin at: every device binds buffers from multiples of 256 bytes on, and an element has one at least. */
const PART = 256

/** A tensor of so many elements in parts of at most `bytes` bytes, where an element has `each`; one part where it fits. */
export function windowsOf(elements: number, each: number, bytes: number): Window[] {
  if (elements * each <= bytes) return [{ first: 0, count: elements }]
  const most = Math.floor(bytes / each / PART) * PART
  return Array.from({ length: Math.ceil(elements / most) }, (_, i) => ({ first: i * most, count: Math.min(most, elements - i * most) }))
}

/** A part of a tensor as a resource of a bind group, with its padding where the buffer has some: libraries make theirs without. */
export function boundPart({ buffer, storage }: Tensor, { first, count }: Window): GPUBufferBinding {
  const offset = first * STORAGE_BYTES[storage]
  return { buffer, offset, size: Math.min(tensorBytes(count, storage), buffer.size - offset) }
}

/** One dispatch of an own shader over each part of each tensor; they are of one size. `uniformOf` a part. */
async function sweep(gpu: Gpu, wgsl: string, tensors: readonly Tensor[], uniformOf: (part: Window) => Uint32Array<ArrayBuffer>, more: readonly GPUBuffer[] = []): Promise<void> {
  const pipeline = await gpu.pipeline(wgsl)
  const encoder = gpu.device.createCommandEncoder()
  const pass = encoder.beginComputePass()
  pass.setPipeline(pipeline)
  const { elements, storage } = tensors[0]!
  const settings: GPUBuffer[] = []
  for (const part of windowsOf(elements, STORAGE_BYTES[storage], maxTensorBytes(gpu) - ALIGNMENT)) {
    const uniform = createUniform(gpu, uniformOf(part))
    settings.push(uniform)
    for (const tensor of tensors) {
      const resources: GPUBufferBinding[] = [boundPart(tensor, part), { buffer: uniform }, ...more.map((buffer) => ({ buffer }))]
      pass.setBindGroup(0, gpu.device.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries: resources.map((resource, binding) => ({ binding, resource })) }))
      pass.dispatchWorkgroups(groupsFor(tensorBytes(part.count, storage) / 4))
    }
  }
  pass.end()
  gpu.device.queue.submit([encoder.finish()])
  for (const buffer of settings) buffer.destroy()
}

const isWhole = (storage: StorageType) => storage === 'i32' || storage === 'i8' || storage === 'u8'

/** Makes a tensor by the rule in core/values/random.ts, the same in each of these. Throws a CaseError for a storage type that no shader writes. */
export async function fillTensors(gpu: Gpu, tensors: readonly Tensor[], seed: number, stream: number, fill: FillSpec): Promise<void> {
  const first = tensors[0]
  if (!first) return
  const { storage } = first
  if (storage === 'bf16' || storage === 'f8e4m3') throw new CaseError('unsupported', `The WGSL backend cannot fill a tensor of ${storage}.`)
  const { kind, key0, key1, factor, low, below } = fillWords(fill, seed, stream)
  await sweep(gpu, fillText, tensors, ({ first, count }) => {
    const uniform = new Uint32Array([count, key0, key1, kind, 0, low, below, STORAGE_BYTES[storage], isWhole(storage) ? 1 : 0, first, 0, 0])
    new Float32Array(uniform.buffer)[4] = factor
    return uniform
  })
}

/** An element repeated over a whole word. */
const wordOf = (bits: number, storage: StorageType): number => {
  const size = STORAGE_BYTES[storage]
  return size === 4 ? bits : size === 2 ? bits * 0x10001 : bits * 0x1010101
}

/** Fills whole buffers with the sentinel of their type. */
export async function poisonTensors(gpu: Gpu, tensors: readonly Tensor[]): Promise<void> {
  const first = tensors[0]
  if (first) await sweep(gpu, poisonText, tensors, () => new Uint32Array([wordOf(SENTINEL[first.storage], first.storage), 0, 0, 0]))
}

/** Exponent bits of the storage types that have infinities or NaN. */
const EXPONENT: Readonly<Partial<Record<StorageType, number>>> = { f32: 0x7f800000, f16: 0x7c00, bf16: 0x7f80 }

/** Elements of all these tensors that still hold the sentinel or are no finite numbers; each below 2^32. */
export async function scanTensors(gpu: Gpu, tensors: readonly Tensor[]): Promise<Required<OutputScan>> {
  const first = tensors[0]
  if (!first) return { unwritten: 0, nonFinite: 0 }
  const { storage } = first
  const found = gpu.device.createBuffer({ size: 8, usage: GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC })
  try {
    await sweep(gpu, scanText, tensors, ({ count }) => new Uint32Array([count, SENTINEL[storage], STORAGE_BYTES[storage], EXPONENT[storage] ?? 0]), [found])
    const [bytes] = await readBytes(gpu, found, [{ offset: 0, size: 8 }])
    const [unwritten, nonFinite] = new Uint32Array(bytes!)
    return { unwritten: unwritten!, nonFinite: nonFinite! }
  } finally {
    found.destroy()
  }
}

/** Elements of each range as numbers: one way to the device and back for all of them. */
export async function readTensor(gpu: Gpu, tensor: Tensor, ranges: readonly { start: number; count: number }[]): Promise<Values[]> {
  const size = STORAGE_BYTES[tensor.storage]
  // Copies begin and end at whole words; a range of short elements may begin and end between them.
  const words = ranges.map(({ start, count }) => {
    const offset = Math.floor((start * size) / 4) * 4
    return { offset, size: Math.ceil(((start + count) * size) / 4) * 4 - offset, skipped: start - offset / size, count }
  })
  const parts = await readBytes(gpu, tensor.buffer, words)
  return words.map(({ skipped, count }, i) => decode(parts[i]!, tensor.storage).subarray(skipped, skipped + count))
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
