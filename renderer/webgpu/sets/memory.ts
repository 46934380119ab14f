import { CaseError, problemInputs, type Problem } from '@core/backend'
import { memoryOf, wordsOf } from '../gpu/adapter'
import { guarded, type Gpu } from '../gpu/gpu'
import { boundPart, checkScratchSize, checkSize, createTensor, createUniform, fillTensors, tensorBytes, type Tensor, type Window } from '../gpu/tensors'
import { uniformWords, type BufferName, type Program } from '../kernels/types'

/** The tensors of one call: those that are filled and those that it writes, each in the order of the problem. An inout tensor is in both. */
export interface BufferSet {
  inputs: Tensor[]
  outputs: Tensor[]
}

/** Everything of a case that lies on the device: one set of tensors, or in mode rotated many with the same inputs. */
export interface Memory {
  sets: BufferSet[]
  /** Shared by all sets. New buffers are zero: what a call needs to be zero, it leaves so. */
  scratch: GPUBuffer[]
  uniforms: GPUBuffer[]
  /** Where in which uniforms the seed of the last fill stands. */
  seeds: { uniform: GPUBuffer; offset: number }[]
}

const tensorsOf = ({ inputs, outputs }: BufferSet): Tensor[] => [...new Set([...inputs, ...outputs])]

function countSets(gpu: Gpu, { case: { mode }, tensors }: Problem, cacheBytes: number): number {
  if (mode !== 'rotated') return 1
  const setBytes = tensors.reduce((sum, { elements, storage }) => sum + tensorBytes(elements, storage), 0)
  const { bytes } = memoryOf(wordsOf(gpu.adapter), gpu.device.limits, gpu.software)
  return setsNeeded(setBytes, { cacheBytes, memoryBytes: bytes })
}

/** Throws a CaseError where a tensor is larger than the device allows, or where rotated sets, together larger than `cacheBytes`, do not fit. */
export function allocate(gpu: Gpu, problem: Problem, program: Program, cacheBytes: number): Memory {
  // Before anything is allocated: a tensor beyond the device's limits, then too many of them.
  const inParts = program.steps.some(({ window }) => window !== undefined)
  for (const { name, elements, storage } of problem.tensors) checkSize(gpu, tensorBytes(elements, storage), name, inParts)
  for (const bytes of program.scratchBytes) checkScratchSize(gpu, bytes)
  const count = countSets(gpu, problem, cacheBytes)
  const sets = Array.from({ length: count }, (_, set): BufferSet => {
    const made = problem.tensors.map(({ name, elements, storage, role }) => ({ role, tensor: createTensor(gpu, elements, storage, count === 1 ? name : `${name} of set ${set}`, inParts) }))
    return { inputs: made.flatMap(({ role, tensor }) => (role === 'out' ? [] : [tensor])), outputs: made.flatMap(({ role, tensor }) => (role === 'in' ? [] : [tensor])) }
  })
  const scratch = program.scratchBytes.map((bytes, i) => gpu.device.createBuffer({ size: Math.ceil(bytes / 16) * 16, usage: GPUBufferUsage.STORAGE, label: `scratch ${i}` }))
  const uniforms = program.steps.map((step) => createUniform(gpu, uniformWords(step)))
  const seeds = program.steps.flatMap(({ seedAt }, i) => (seedAt === undefined ? [] : [{ uniform: uniforms[i]!, offset: 4 * seedAt }]))
  return { sets, scratch, uniforms, seeds }
}

/** What a step calls `name`, in one of the sets: the buffer, or of a tensor the part that it works on. */
export function resourceOf(memory: Memory, set: BufferSet, name: BufferName, window?: Window): GPUBufferBinding {
  const tensor = name === 'output' ? set.outputs[0] : 'input' in name ? set.inputs[name.input] : 'output' in name ? set.outputs[name.output] : undefined
  if (tensor && window) return boundPart(tensor, window)
  const buffer = tensor?.buffer ?? (typeof name === 'object' && 'scratch' in name ? memory.scratch[name.scratch] : undefined)
  if (!buffer) throw new CaseError('internal', `A step of the kernel names ${JSON.stringify(name)}, which the case does not have.`)
  return { buffer }
}

/** Makes the inputs and the state of every set from `seed`, and waits until they are there. */
export const fillInputs = (gpu: Gpu, problem: Problem, memory: Memory, seed: number): Promise<void> =>
  guarded(gpu, 'filling the inputs', async () => {
    for (const [stream, { fill }] of problemInputs(problem).entries()) await fillTensors(gpu, memory.sets.map((set) => set.inputs[stream]!), seed, stream, fill!)
    for (const { uniform, offset } of memory.seeds) gpu.device.queue.writeBuffer(uniform, offset, Uint32Array.of(seed))
    await gpu.device.queue.onSubmittedWorkDone()
  })

/** Bytes of all tensors and scratch space. */
export const sizeOf = ({ sets, scratch }: Memory): number =>
  [...sets.flatMap(tensorsOf).map(({ buffer }) => buffer), ...scratch].reduce((sum, buffer) => sum + buffer.size, 0)

export function release({ sets, scratch, uniforms }: Memory): void {
  for (const buffer of [...sets.flatMap(tensorsOf).map((tensor) => tensor.buffer), ...scratch, ...uniforms]) buffer.destroy()
}

/** Most sets of buffers one case gets: each costs a bind group and a fill. */
const MAX_SETS = 256
/** Share of the device's memory that the sets of a case may take. */
const MEMORY_SHARE = 1 / 4

export interface Room {
  /** Size of the last-level cache, or of the largest one the device may have. */
  cacheBytes: number
  /** Bytes that cases may take on this device. */
  memoryBytes: number
}

/**
 * Sets of `setBytes` bytes each that mode rotated needs: all together twice the last-level cache, so that a call never
 * finds what the call before its turn came around has left there; two at least. Throws a CaseError where they do not fit.
 */
export function setsNeeded(setBytes: number, { cacheBytes, memoryBytes }: Room): number {
  const sets = Math.max(2, Math.ceil((2 * cacheBytes) / setBytes))
  if (sets > MAX_SETS) {
    const least = Math.ceil((2 * cacheBytes) / MAX_SETS)
    throw new CaseError('unsupported', `Rotating buffers past a cache of ${cacheBytes} bytes takes ${sets} sets of ${setBytes} bytes, and ${MAX_SETS} are the most: choose a size of at least ${least} bytes, or mode cold.`)
  }
  if (sets * setBytes > memoryBytes * MEMORY_SHARE) {
    throw new CaseError('unsupported', `Rotating buffers takes ${sets} sets of ${setBytes} bytes, more than a quarter of the ${memoryBytes} bytes that cases may take on this device: choose a smaller size, or mode cold.`)
  }
  return sets
}
