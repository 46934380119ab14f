import type { z } from 'zod'
import type { Dtype, Params, StorageType } from '../case'
import type { Values } from '../values/numbers'
import type { FillSpec } from '../values/random'
import type { AtenForm } from './aten'
import type { AttributeSpec } from './attributes'
import type { SizeForm } from './forms/basic'

/** Families as the operation tree shows them, in this order. `ceiling` ops measure the device, `probe` ops the clock, `part` ops join those of a composite; none is listed. */
export const FAMILIES = [
  'memory', 'binary', 'ternary', 'unary', 'activation', 'reduction', 'vector', 'softmax', 'normalization', 'matmul', 'attention', 'convolution', 'pooling',
  'dropout', 'loss', 'backward', 'lookup', 'order', 'gated', 'optimizer', 'quantized', 'composite', 'ceiling', 'probe', 'part',
] as const
export type Family = (typeof FAMILIES)[number]

/** Families that are measured by name only, never picked. */
export const isHiddenFamily = (family: Family): boolean => family === 'ceiling' || family === 'probe' || family === 'part'

/**
 * One tensor of an op. `inout` is state that a call changes (the parameters of an optimizer): refill restores it before
 * every verification.
 */
export interface TensorSpec {
  name: string
  shape: readonly number[]
  /** Storage type where it is fixed (i32 indices, u8 masks, f32 scales); absent: that of the case's dtype. */
  storage?: StorageType
  role: 'in' | 'out' | 'inout'
  /** How an `in` or `inout` is filled. Its stream (core/values/random.ts) is its place among the filled tensors. */
  fill?: FillSpec
  /** Least bytes of it that a call must move, where that is not the whole tensor (the rows of a table that a lookup reads). */
  leastBytes?: number
}

/** A tensor as backends get it: with its storage type and element count worked out. */
export interface Tensor extends TensorSpec {
  storage: StorageType
  elements: number
  /** Stream of its fill; absent for outputs. */
  stream?: number
}

/**
 * Reads `count` elements from `start` of filled tensor `input` (counted among the filled ones), rounded to its storage type;
 * within a composite op in float64, where another part computes them.
 */
export type ReadInput = (input: number, start: number, count: number) => InputValues

/** What an input holds: float64 only where a part of a composite op made it. */
export type InputValues = Values | Float64Array

/** Unit that does most of the arithmetic: it decides which roof of the roofline applies. `special`: exp, log, tanh, rsqrt and the like. */
export type ComputeUnit = 'vector' | 'special' | 'matrix'

/**
 * What an output must meet to be ranked, against the float64 reference of the same rounded inputs. A NaN, an infinity where
 * the reference is finite, or an unwritten element fails whatever the numbers say.
 */
export interface Tolerance {
  /** Largest ‖out − ref‖ / ‖ref‖. */
  relL2: number
  /** Largest |out − ref| of one element: `ulp` times the spacing of the storage type at the reference, plus `abs`. */
  element: { ulp: number; abs: number }
}

/**
 * What a part of a composite op reads: a tensor of the composite (`x`) or the first output of an earlier part (`qkv.out`),
 * whole and in its order, or as elements of it: [i, j, ...] of `shape` is element offset + i * strides[0] + j * strides[1] + ...
 */
export type PartSource = string | { of: string; offset?: number; shape: readonly number[]; strides: readonly number[] }

/** One op of a composite op. The first output of the last part is the composite's. */
export interface CompositePart {
  name: string
  op: Op
  /** Parameters of `op`, which it parses. */
  params: Params
  /** Tensor that `op` reads -> where its elements come from. */
  inputs: Readonly<Record<string, PartSource>>
}

/** One op of the backward pass of a composite op, which is measured and never joined. */
export type GradientPart = Pick<CompositePart, 'name' | 'op' | 'params'>

/**
 * An output as a matrix product: out[b, i, j] = sum over l of left[b, i, l] * right[b, l, j], row-major. It lets the whole
 * output be checked by random projections (core/measure/verify/product.ts). `left` and `right` may hold computed values: the
 * windows of a convolution, the softmax of an attention.
 */
export interface MatrixProduct {
  batch: number
  rows: number
  inner: number
  cols: number
  /** Rows row .. row + rows of one batch's left factor: [rows, inner]. */
  left(read: ReadInput, batch: number, row: number, rows: number): InputValues
  /** Rows from .. from + count of one batch's right factor: [count, cols]. */
  right(read: ReadInput, batch: number, from: number, count: number): InputValues
  /** Work units of an element of `left` where making it is more than reading an input. */
  leftCost?: number
  /** True where computing a part of an output row costs as much as all of it: blocks then are of whole rows. */
  wholeRows?: boolean
}

/** What one operation states; the rest of an Op follows from it. Pure. Names, parameters and meaning follow PyTorch's functional API. */
export interface OpDefinition<P extends Params = Params> {
  id: string
  family: Family
  /** One line for the tree's tooltip. */
  summary: string
  /** Stands for its family in the default sweep and the tour; in a family that marks none, the first op does. */
  representative?: boolean
  /** The PyTorch call that means the same, as a user would type it: `F.layer_norm(x, [dim], weight, bias)`. */
  torch: string
  /** How sizes of this op are written, and which parameters they fill. */
  size: SizeForm
  /** Scalars, flags and words that are no sizes: eps, causal, axis. */
  attributes?: Readonly<Record<string, AttributeSpec>>
  /** Why these parameters do not fit together (`groups divides channels`), or undefined. Checked after each one by itself. */
  refuse?(p: P): string | undefined
  dtypes: readonly Dtype[]
  /** Every tensor of a call, in the order kernels get them. */
  tensors(p: P, dtype: Dtype): readonly TensorSpec[]
  /** Integers passed to kernels, in the order the op's doc comment states. */
  dims(p: P): readonly number[]
  /** Real numbers passed to kernels, in the order the op's doc comment states; absent: none. */
  scalars?(p: P): readonly number[]
  /** Operations: one per add, multiply, compare or transcendental unless the op says otherwise. */
  flops(p: P): number
  /** Default: vector. */
  unit?(dtype: Dtype): ComputeUnit
  /** `16Mi`, `4096x4096`; default: by the size form. */
  shapeLabel?(p: P): string
  /** Output elements come in natural runs of this many (a softmax row); ranges given to `reference` are aligned to it. Default 1. */
  granule?(p: P, output: number): number
  /** Work units (about one multiply-add) that `reference` needs per element of the output. */
  referenceCost(p: P, output: number): number
  /** The same where one granule is computed alone, for samples; default: `referenceCost`. */
  referenceCostAlone?(p: P, output: number): number
  /**
   * float64 result of elements `start .. start + count` of output `output` (out and inout tensors, in order), from the same
   * rounded inputs. `got` is what was computed there, for ops with several right answers (dropout, ties of topk): the
   * reference then is the right answer nearest to it. Other ops ignore it.
   */
  reference(p: P, read: ReadInput, start: number, count: number, output: number, got?: Values): Float64Array
  tolerance(p: P, dtype: Dtype, output: number): Tolerance
  /** The output as a matrix product, where it is one and large outputs cost too much to compute again. */
  product?(p: P, output: number): MatrixProduct | undefined
  /** Typical magnitude of one output element, where cancellation can bring the true norm near zero (sums). */
  outputScale?(p: P, output: number): number
  /** True where calls change what later calls read (optimizers), so that timing runs on drifting state. */
  drifts?: boolean
  /** Random ops: the probability that an element is kept, which the output's rate must meet. */
  keepRate?(p: P): number
  /** The calls of PyTorch's aten that mean this op, by which shapes are captured from a script (aten.ts). */
  aten?: readonly AtenForm[]
  /** A list of ops in order, their tensors joined (composite.ts). */
  parts?(p: P): readonly CompositePart[]
  /** Of a composite op: the ops of its backward pass, in the order that they run. */
  gradientParts?(p: P): readonly GradientPart[]
}

/** An operation: everything about it that does not depend on who computes it. */
export interface Op extends Omit<OpDefinition, 'unit' | 'shapeLabel' | 'granule' | 'scalars' | 'attributes' | 'referenceCost' | 'referenceCostAlone' | 'reference' | 'tolerance' | 'outputScale'> {
  attributes: Readonly<Record<string, AttributeSpec>>
  /** Fills in defaults and checks every parameter: the only validation a case's params need. */
  params: z.ZodType<Params>
  scalars(p: Params): readonly number[]
  unit(dtype: Dtype): ComputeUnit
  shapeLabel(p: Params): string
  /** `output` is 0 where absent, here and below. */
  granule(p: Params, output?: number): number
  referenceCost(p: Params, output?: number): number
  referenceCostAlone(p: Params, output?: number): number
  reference(p: Params, read: ReadInput, start: number, count: number, output?: number, got?: Values): Float64Array
  tolerance(p: Params, dtype: Dtype, output?: number): Tolerance
  outputScale(p: Params, output?: number): number
  /** True where `reference` looks at `got`, so that its values belong to one output alone. */
  severalAnswers: boolean
  /** Minimum memory traffic in bytes: each `in` read once, each `out` written once, each `inout` both, or what a tensor states itself. */
  bytes(p: Params, dtype: Dtype): number
}
