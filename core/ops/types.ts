import type { z } from 'zod'
import type { Dtype, Params } from '../case'
import type { FillSpec } from '../random'

/** Which size editor and presets an op uses. vector: n. matrix: rows, cols. gemm: m, n, k. */
export type SizeKind = 'vector' | 'matrix' | 'gemm'

/** The parameters a size fills, in the order sizes are written (`4096x1024` is 4096 rows of 1024). */
export const SIZE_PARAMS: Readonly<Record<SizeKind, readonly string[]>> = { vector: ['n'], matrix: ['rows', 'cols'], gemm: ['m', 'n', 'k'] }

/** Families as the operation tree shows them, in this order. `ceiling` ops measure the device, `probe` ops the clock; neither is listed. */
export const FAMILIES = ['memory', 'binary', 'unary', 'activation', 'reduction', 'softmax', 'normalization', 'matmul', 'ceiling', 'probe'] as const
export type Family = (typeof FAMILIES)[number]

/** Families that are measured by name only, never picked. */
export const isHiddenFamily = (family: Family): boolean => family === 'ceiling' || family === 'probe'

/** One input tensor; its stream (see core/random.ts) is its index among the inputs. */
export interface InputSpec {
  name: string
  shape: readonly number[]
  fill: FillSpec
}

/** Reads `count` input elements from `start`, rounded to the case's dtype, as f32. */
export type ReadInput = (input: number, start: number, count: number) => Float32Array

/** What counts as right. A NaN or an unwritten element is wrong whatever the numbers say. */
export interface Tolerance {
  /** Largest ‖out − ref‖ / ‖ref‖. */
  relL2: number
  /** Largest distance of one element in units in the last place of the dtype, where the op is that exact. */
  maxUlp?: number
}

/**
 * One operation: everything about it that does not depend on who computes it. Pure.
 * Names, parameters and meaning follow PyTorch's functional API.
 */
export interface Op<P extends Params = Params> {
  id: string
  family: Family
  /** One line for the tree's tooltip, with the PyTorch call that means the same. */
  summary: string
  sizeKind: SizeKind
  /** The parameters that the size kind's extents go to, in order, where they are not the kind's own names (SIZE_PARAMS). */
  sizeParams?: readonly string[]
  /** Sizes (positive integers) and variants. Parsing is the only validation a case's params need. */
  params: z.ZodType<P>
  /** Parameters that are words with a fixed set of choices, such as `axis`; the first choice is the default. */
  variants?: Readonly<Record<string, readonly string[]>>
  dtypes: readonly Dtype[]
  /** `16.8M`, `4096x4096`, `512x512x512`. */
  shapeLabel(p: P): string
  inputs(p: P): readonly InputSpec[]
  outputShape(p: P): readonly number[]
  /** Integers passed to kernels, in the order the op's doc comment states. */
  dims(p: P): readonly number[]
  /** Least traffic in bytes: each input read once, each output written once. */
  bytes(p: P, dtype: Dtype): number
  /** Operations: one per add, multiply, compare or transcendental unless the op says otherwise. */
  flops(p: P): number
  /** Outputs come in natural runs of this many elements (a softmax row); ranges given to `reference` are aligned to it. */
  granule(p: P): number
  /** Work units (about one multiply-add) that `reference` needs per output element. */
  referenceCost(p: P): number
  /** float64 result of output elements `start .. start + count`, from the same rounded inputs. */
  reference(p: P, read: ReadInput, start: number, count: number): Float64Array
  tolerance(p: P, dtype: Dtype): Tolerance
  /** Typical magnitude of one output element, where cancellation can bring the true norm near zero (sums). */
  outputScale?(p: P): number
}

/** Types an op's params from its schema while keeping the literal object. */
export const defineOp = <P extends Params>(op: Op<P>): Op => op as unknown as Op
