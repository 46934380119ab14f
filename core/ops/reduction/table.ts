import type { Dtype, Params } from '../../case'
import type { FillSpec } from '../../values/random'
import { numbersAt, shapeAt, type AtenCall } from '../aten'
import { defineOp, elementsOf, MAX_EXTENT, divisorUpTo, accumulated, exact } from '../define'
import { matrix } from '../forms'
import type { Op, ReadInput, Tolerance, InputValues } from '../types'

/**
 * A reduction of x by its dims: out[o * inner + i] is made from x[((g * outer + o) * reduce + r) * inner + i] over all
 * g < groups and r < reduce. The reduced elements are counted row by row: number g * reduce + r.
 */
export interface Reduction {
  outer: number
  reduce: number
  inner: number
  groups: number
}

/** Elements that one output is made from. */
export const lengthOf = ({ reduce, groups }: Reduction): number => reduce * groups

/** Neighbouring columns share their reads; 64 of them keep a sampled check cheap. */
export const granuleOf = ({ inner }: Reduction): number => divisorUpTo(inner, 64)

/** Elements taken from an input at a time, so that a long reduction stays in the processor's cache. */
const CHUNK = 16384

/** What takes the elements of a reduction in order. `index` is the number of the first of them among those reduced. */
interface Visitor {
  /** `part` all belongs to output `at`. */
  along(at: number, part: InputValues, index: number): void
  /** Element i of `part` belongs to output `at + i`. */
  across(at: number, part: InputValues, index: number): void
}

/** Hands every element that outputs `start .. start + count` are made from to the visitor; outputs are counted from `start`. */
export function visitReduced({ outer, reduce, inner, groups }: Reduction, read: ReadInput, input: number, start: number, count: number, visitor: Visitor): void {
  // Short rows are read many at a time: a read costs more than its elements.
  const rowsAtOnce = Math.max(1, Math.floor(CHUNK / inner))
  const rows = (at: number, part: InputValues, index: number, from = 0, to = from + part.length / inner) => {
    if (inner === 1) visitor.along(at, from === 0 && to === part.length ? part : part.subarray(from, to), index)
    else for (let r = from; r < to; r++) visitor.across(at, part.subarray(r * inner, (r + 1) * inner), index + r - from)
  }
  for (let done = 0; done < count; ) {
    const o = Math.floor((start + done) / inner)
    const column = (start + done) % inner
    const width = Math.min(count - done, inner - column)
    const outers = groups === 1 && width === inner ? Math.min(Math.floor((count - done) / inner), Math.floor(rowsAtOnce / reduce)) : 0
    if (outers > 1) {
      const part = read(input, o * reduce * inner, outers * reduce * inner)
      for (let k = 0; k < outers; k++) rows(done + k * inner, part, 0, k * reduce, (k + 1) * reduce)
      done += outers * inner
      continue
    }
    for (let g = 0; g < groups; g++) {
      const row = (g * outer + o) * reduce
      if (width === inner) for (let r = 0; r < reduce; r += rowsAtOnce) rows(done, read(input, (row + r) * inner, Math.min(rowsAtOnce, reduce - r) * inner), g * reduce + r)
      else for (let r = 0; r < reduce; r++) visitor.across(done, read(input, (row + r) * inner + column, width), g * reduce + r)
    }
    done += width
  }
}

/** Each output folded from `first` with `step`, in float64. */
function folded(reduction: Reduction, read: ReadInput, input: number, start: number, count: number, first: number, step: (total: number, x: number) => number): Float64Array {
  const out = new Float64Array(count).fill(first)
  visitReduced(reduction, read, input, start, count, {
    along: (at, part) => {
      let total = out[at]!
      for (let i = 0; i < part.length; i++) total = step(total, part[i]!)
      out[at] = total
    },
    across: (at, part) => {
      for (let i = 0; i < part.length; i++) out[at + i] = step(out[at + i]!, part[i]!)
    },
  })
  return out
}

/** Number of the first element that no other of its output is better than; of the first NaN where there is one. */
function firstBest(reduction: Reduction, read: ReadInput, input: number, start: number, count: number, better: (x: number, best: number) => boolean): Float64Array {
  const best = new Float64Array(count)
  const where = new Float64Array(count).fill(-1)
  const take = (at: number, x: number, index: number) => {
    if (where[at]! >= 0 && (Number.isNaN(best[at]!) || !(better(x, best[at]!) || Number.isNaN(x)))) return
    best[at] = x
    where[at] = index
  }
  visitReduced(reduction, read, input, start, count, {
    along: (at, part, index) => part.forEach((x, i) => take(at, x, index + i)),
    across: (at, part, index) => part.forEach((x, i) => take(at + i, x, index)),
  })
  return where
}

/** The sum of each output's elements. */
export const sums = (reduction: Reduction, read: ReadInput, start: number, count: number): Float64Array => folded(reduction, read, 0, start, count, 0, (total, x) => total + x)

/** Which axes are reduced. PyTorch: no dim, dim=-1, dim=0, dim=(0, 2). */
const AXES = ['all', 'last', 'first', 'first_last'] as const
type ReductionParams = { rows: number; cols: number; batch: number; axis: (typeof AXES)[number] }

/** What one reduction states; everything else follows from it. */
interface Entry {
  id: string
  summary: string
  torch: string
  representative?: boolean
  /** Its aten call, where that is not called like it. */
  aten?: string
  /** Operations per input element. */
  flops: number
  fill?: (length: number) => FillSpec
  /** Outputs are indices, i32. */
  index?: boolean
  reference: (reduction: Reduction, read: ReadInput, start: number, count: number) => Float64Array
  tolerance: (dtype: Dtype, length: number) => Tolerance
  outputScale?: (length: number) => number
}

/** `reduce(x, axes, ...)`: over all axes, the first ones, the last ones, or both with others between them. */
function reducedOver(call: AtenCall): Params | undefined {
  const shape = shapeAt(call, 0)
  if (!shape || shape.length === 0) return undefined
  const listed = numbersAt(call, 1) ?? (typeof call.args[1] === 'number' ? [call.args[1]] : [])
  const gone = new Set((listed.length === 0 ? shape.map((_, axis) => axis) : listed).map((axis) => (axis < 0 ? axis + shape.length : axis)))
  const runs = shape.map((_, axis) => gone.has(axis)).filter((is, axis, all) => axis === 0 || all[axis - 1] !== is)
  const extent = (from: number, to: number) => elementsOf(shape.slice(from, to))
  const first = shape.findIndex((_, axis) => gone.has(axis))
  if (runs.length === 1) return runs[0] ? { axis: 'all', rows: 1, cols: extent(0, shape.length) } : undefined
  if (runs.length === 2) {
    const kept = runs[0] ? shape.findIndex((_, axis) => !gone.has(axis)) : first
    return { axis: runs[0] ? 'first' : 'last', rows: extent(0, kept), cols: extent(kept, shape.length) }
  }
  if (runs.length !== 3 || !runs[0]) return undefined
  const kept = shape.findIndex((_, axis) => !gone.has(axis))
  const after = kept + shape.slice(kept).findIndex((_, i) => gone.has(kept + i))
  return { axis: 'first_last', batch: extent(0, kept), rows: extent(kept, after), cols: extent(after, shape.length) }
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
    aten: [{ names: [e.aten ?? e.id], params: reducedOver }],
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
  { id: 'max', summary: 'Largest value over all elements or some axes', torch: 'torch.amax(x, dim)', aten: 'amax', flops: 1, reference: (r, read, start, count) => folded(r, read, 0, start, count, -Infinity, Math.max), tolerance: () => exact },
  { id: 'min', summary: 'Smallest value over all elements or some axes', torch: 'torch.amin(x, dim)', aten: 'amin', flops: 1, reference: (r, read, start, count) => folded(r, read, 0, start, count, Infinity, Math.min), tolerance: () => exact },
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
