import type { Dtype } from '../../case'
import type { FillSpec } from '../../values/random'
import { defineOp, MAX_EXTENT } from '../define'
import { matrix } from '../forms'
import { accumulated, exact } from '../tolerance'
import type { Op, ReadInput, Tolerance } from '../types'
import { firstBest, folded, granuleOf, lengthOf, sums, type Reduction } from './geometry'

/** Which axes are reduced. PyTorch: no dim, dim=-1, dim=0, dim=(0, 2). */
const AXES = ['all', 'last', 'first', 'first_last'] as const
type ReductionParams = { rows: number; cols: number; batch: number; axis: (typeof AXES)[number] }

/** What one reduction states; everything else follows from it. */
interface Entry {
  id: string
  summary: string
  torch: string
  representative?: boolean
  /** Operations per input element. */
  flops: number
  fill?: (length: number) => FillSpec
  /** Outputs are indices, i32. */
  index?: boolean
  reference: (reduction: Reduction, read: ReadInput, start: number, count: number) => Float64Array
  tolerance: (dtype: Dtype, length: number) => Tolerance
  outputScale?: (length: number) => number
}

function reductionOf({ rows, cols, batch, axis }: ReductionParams): Reduction {
  if (axis === 'all') return { outer: 1, reduce: batch * rows * cols, inner: 1, groups: 1 }
  if (axis === 'last') return { outer: batch * rows, reduce: cols, inner: 1, groups: 1 }
  if (axis === 'first_last') return { outer: rows, reduce: cols, inner: 1, groups: batch }
  return batch > 1 ? { outer: 1, reduce: batch, inner: rows * cols, groups: 1 } : { outer: 1, reduce: rows, inner: cols, groups: 1 }
}

function outputShape({ rows, cols, batch, axis }: ReductionParams): number[] {
  if (axis === 'all') return [1]
  if (axis === 'first_last') return [rows]
  if (batch === 1) return axis === 'last' ? [rows] : [cols]
  return axis === 'last' ? [batch, rows] : [rows, cols]
}

/**
 * A reduction of x [rows, cols], or of x [batch, rows, cols] where batch is above 1. dims: [outer, reduce, inner], for
 * first_last [outer, reduce, inner, groups], as geometry.ts states; accumulated in f32.
 */
const reduction = (e: Entry): Op =>
  defineOp<ReductionParams>({
    id: e.id,
    family: 'reduction',
    summary: e.summary,
    torch: e.torch,
    ...(e.representative ? { representative: true } : {}),
    size: matrix,
    attributes: { axis: { title: 'Axis', kind: 'choice', words: AXES }, batch: { title: 'Batch', kind: 'number', whole: true, default: 1, min: 1, max: MAX_EXTENT } },
    dtypes: ['f32', 'f16', 'bf16'],
    tensors: (p) => [
      { name: 'x', shape: p.batch > 1 ? [p.batch, p.rows, p.cols] : [p.rows, p.cols], role: 'in', fill: e.fill?.(lengthOf(reductionOf(p))) ?? { kind: 'normal', scale: 1 } },
      { name: 'out', shape: outputShape(p), role: 'out', ...(e.index ? { storage: 'i32' as const } : {}) },
    ],
    dims: (p) => {
      const { outer, reduce, inner, groups } = reductionOf(p)
      return p.axis === 'first_last' ? [outer, reduce, inner, groups] : [outer, reduce, inner]
    },
    flops: (p) => e.flops * p.batch * p.rows * p.cols,
    granule: (p) => granuleOf(reductionOf(p)),
    referenceCost: (p) => lengthOf(reductionOf(p)),
    reference: (p, read, start, count) => e.reference(reductionOf(p), read, start, count),
    tolerance: (p, dtype) => e.tolerance(dtype, lengthOf(reductionOf(p))),
    outputScale: (p) => e.outputScale?.(lengthOf(reductionOf(p))) ?? 0,
  })

/** A fill whose absolute values add up to at most 2^15, so that the sum is finite in f16. */
const ofSmallSum = (length: number): FillSpec => ({ kind: 'normal', scale: 2 ** Math.min(0, 14 - Math.ceil(Math.log2(length))) })

const TABLE: readonly Entry[] = [
  // The scale is the standard deviation of a sum of independent unit normals.
  { id: 'sum', summary: 'Sum over all elements or some axes', torch: 'torch.sum(x, dim)', representative: true, flops: 1, reference: sums, tolerance: (dtype, length) => accumulated(dtype, length), outputScale: Math.sqrt },
  {
    id: 'mean', summary: 'Mean over all elements or some axes', torch: 'torch.mean(x, dim)', flops: 1, reference: (r, read, start, count) => sums(r, read, start, count).map((sum) => sum / lengthOf(r)),
    tolerance: (dtype, length) => accumulated(dtype, length, 1 / length), outputScale: (length) => 1 / Math.sqrt(length),
  },
  { id: 'max', summary: 'Largest value over all elements or some axes', torch: 'torch.amax(x, dim)', flops: 1, reference: (r, read, start, count) => folded(r, read, 0, start, count, -Infinity, Math.max), tolerance: () => exact },
  { id: 'min', summary: 'Smallest value over all elements or some axes', torch: 'torch.amin(x, dim)', flops: 1, reference: (r, read, start, count) => folded(r, read, 0, start, count, Infinity, Math.min), tolerance: () => exact },
  { id: 'argmax', summary: 'Index of the largest value, the first of equal ones', torch: 'torch.argmax(x, dim)', flops: 1, index: true, reference: (r, read, start, count) => firstBest(r, read, 0, start, count, (x, best) => x > best), tolerance: () => exact },
  { id: 'argmin', summary: 'Index of the smallest value, the first of equal ones', torch: 'torch.argmin(x, dim)', flops: 1, index: true, reference: (r, read, start, count) => firstBest(r, read, 0, start, count, (x, best) => x < best), tolerance: () => exact },
  {
    // The mean of |x| over unit normals is sqrt(2 / pi): the sum grows with the length, not with its root.
    id: 'norm_l1', summary: 'Sum of absolute values', torch: 'torch.linalg.vector_norm(x, 1, dim)', flops: 2, fill: ofSmallSum,
    reference: (r, read, start, count) => folded(r, read, 0, start, count, 0, (total, x) => total + Math.abs(x)),
    tolerance: (dtype, length) => accumulated(dtype, length, Math.sqrt((2 / Math.PI) * length) * (ofSmallSum(length) as { scale: number }).scale),
  },
  {
    id: 'norm_l2', summary: 'Square root of the sum of squares', torch: 'torch.linalg.vector_norm(x, 2, dim)', flops: 2,
    reference: (r, read, start, count) => folded(r, read, 0, start, count, 0, (total, x) => total + x * x).map(Math.sqrt), tolerance: (dtype, length) => accumulated(dtype, length),
  },
  {
    id: 'norm_linf', summary: 'Largest absolute value', torch: "torch.linalg.vector_norm(x, float('inf'), dim)", flops: 2,
    reference: (r, read, start, count) => folded(r, read, 0, start, count, 0, (most, x) => Math.max(most, Math.abs(x))), tolerance: () => exact,
  },
]

export default TABLE.map(reduction)
