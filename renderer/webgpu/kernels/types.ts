import type { Dtype } from '@core/case'

/** A buffer as a step sees it: a filled tensor of the op, its first output, another output, or f32 scratch space by index. */
export type BufferName = { input: number } | 'output' | { output: number } | { scratch: number }

/** Most integers and real numbers of a step; wgsl/header.ts lays out the uniform for them. */
export const MAX_STEP_DIMS = 8
export const MAX_STEP_SCALARS = 16

/** One dispatch. Bindings 0.. are `buffers` in order; the last binding is a uniform with `dims` and `scalars`. */
export interface Step {
  /** Complete module with entry point `main`. Also the key under which the compiled pipeline is kept. */
  wgsl: string
  buffers: readonly BufferName[]
  /** At most MAX_STEP_DIMS integers, read in WGSL as `dim(i)`. */
  dims: readonly number[]
  /** At most MAX_STEP_SCALARS real numbers, read in WGSL as `scalar(i)`, as f32. */
  scalars?: readonly number[]
  /** The place among `dims` of the seed that the case was filled with last; ops that draw random numbers. */
  seedAt?: number
  /** Workgroups needed; the kernel numbers them with `group_index`. */
  groups: number
  /** The elements of every tensor that are bound, a whole number of 256 before them; all where absent. */
  window?: { first: number; count: number }
}

/** What one call of an op does on the device: its steps in order. Pure data, made without a device. */
export interface Program {
  /** Bytes of each scratch buffer. */
  scratchBytes: readonly number[]
  steps: readonly Step[]
}

/** A product that a subgroup of the device does with matrices: M x K by K x N, in elements of `component` with sums in `result` (types of WGSL). */
export interface SubgroupMatrices {
  component: 'f16' | 'i8'
  result: 'f32' | 'i32'
  m: number
  n: number
  k: number
}

/** Sizes and element type of one case. */
export interface KernelShape {
  dtype: Dtype
  /** As the op's doc comment in core/ops defines them. */
  dims: readonly number[]
  scalars: readonly number[]
  /** Threads of the smallest subgroup, a power of two, where the device has subgroups. */
  subgroups?: number | undefined
  /** What subgroups multiply with matrices; then all of them have `subgroups` threads. None where absent. */
  matrices?: readonly SubgroupMatrices[] | undefined
  /** Threads of the largest workgroup, a power of two; THREADS where absent. */
  threads?: number | undefined
  /** Bytes of memory that a workgroup may have; the 16 KiB of every adapter where absent. */
  workgroupBytes?: number | undefined
}

/** What a plan needs of the device. */
export type DeviceLimits = Pick<KernelShape, 'subgroups' | 'matrices' | 'threads' | 'workgroupBytes'>

/**
 * WGSL kernels of one op: the default export of `renderer/webgpu/kernels/<op>/kernel.ts`, or an entry (op id -> kernel) of the
 * default export of a `renderer/webgpu/kernels/<family>/table.ts`.
 */
export interface Kernel {
  /** Element types with a kernel; f16 also needs the adapter's `shader-f16`, unless the kernel says otherwise. */
  dtypes: readonly Dtype[]
  /** Needs no `shader-f16` for f16: it moves bits, or converts them itself. */
  anyF16?: boolean
  /** Element i of the output depends on element i of each input alone, where dims has nothing but the number of elements: tensors may be taken in parts. */
  elementwise?: boolean
  build(shape: KernelShape): Program
}

/** `dims[index]` of a shape. Throws when the op and its kernel disagree about their number. */
export function dimOf(shape: KernelShape, index: number): number {
  const value = shape.dims[index]
  if (value === undefined) throw new Error(`the kernel expects at least ${index + 1} dims, received ${shape.dims.length}`)
  return value
}

/** Whether an adapter with or without `shader-f16` can run the kernel on this type. */
export const runs = (kernel: Kernel, dtype: Dtype, shaderF16: boolean): boolean => kernel.dtypes.includes(dtype) && (dtype !== 'f16' || shaderF16 || kernel.anyF16 === true)

/** The words of a step's uniform: dims, then the scalars as f32. Throws where a step has more than its uniform holds. */
export function uniformWords({ dims, scalars = [] }: Pick<Step, 'dims' | 'scalars'>): Uint32Array<ArrayBuffer> {
  if (dims.length > MAX_STEP_DIMS || scalars.length > MAX_STEP_SCALARS) throw new Error(`a step has ${dims.length} dims and ${scalars.length} scalars; at most ${MAX_STEP_DIMS} and ${MAX_STEP_SCALARS} fit`)
  const words = new Uint32Array(MAX_STEP_DIMS + MAX_STEP_SCALARS)
  words.set(dims)
  new Float32Array(words.buffer).set(scalars, MAX_STEP_DIMS)
  return words
}
