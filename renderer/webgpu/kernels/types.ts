import type { Dtype } from '@core/case'

/** A buffer as a step sees it: an input of the op, its output, or f32 scratch space by index. */
export type BufferName = { input: number } | 'output' | { scratch: number }

/** One dispatch. Bindings 0.. are `buffers` in order; the last binding is a uniform of eight u32 (`dims`). */
export interface Step {
  /** Complete module with entry point `main`. Also the key under which the compiled pipeline is kept. */
  wgsl: string
  buffers: readonly BufferName[]
  /** At most eight integers, read in WGSL as `dim(i)`. */
  dims: readonly number[]
  /** Workgroups needed; the kernel numbers them with `group_index`. */
  groups: number
}

/** What one call of an op does on the device: its steps in order. Pure data, made without a device. */
export interface Program {
  /** Bytes of each scratch buffer. */
  scratchBytes: readonly number[]
  steps: readonly Step[]
}

/** Sizes and element type of one case. */
export interface KernelShape {
  dtype: Dtype
  /** As the op's doc comment in core/ops defines them. */
  dims: readonly number[]
}

/** WGSL kernels of one op; `renderer/webgpu/kernels/<op>/kernel.ts` exports one as default. */
export interface Kernel {
  /** Element types with a kernel; f16 also needs the adapter's `shader-f16`, unless the kernel only moves bits. */
  dtypes: readonly Dtype[]
  /** Does no arithmetic, so every adapter can run it on f16. */
  movesBits?: boolean
  build(shape: KernelShape): Program
}

/** `dims[index]` of a shape. Throws when the op and its kernel disagree about their number. */
export function dimOf(shape: KernelShape, index: number): number {
  const value = shape.dims[index]
  if (value === undefined) throw new Error(`the kernel expects at least ${index + 1} dims, received ${shape.dims.length}`)
  return value
}

/** Whether an adapter with or without `shader-f16` can run the kernel on this type. */
export const runs = (kernel: Kernel, dtype: Dtype, shaderF16: boolean): boolean => kernel.dtypes.includes(dtype) && (dtype !== 'f16' || shaderF16 || kernel.movesBits === true)
