import type { BufferName } from '../../kernels/types'
import type { Width } from '../header'

/** A tensor that a row operation reads: by element of the row, by column (the same for every row), or as given (`raw`, under its own name). */
export interface RowTensor {
  name: string
  from: BufferName
  by: 'row' | 'column' | 'raw'
  /** WGSL type of an element where it is not the case's own. */
  type?: 'f32' | 'i32'
}

/**
 * What is found out about a row, as f32 names that later expressions use. Expressions see each tensor of the row as a VF (f32 or
 * vec4<f32>), `index` (the columns, a VU), `length` (f32), `row` (u32) and the results of earlier passes.
 * sums: several at once. softmax: the largest value and the sum of e^(value - largest), in one reading where the row is read again
 * for every pass (Milakov & Gimelshein 2018). moments: the sum, and the sum of squares around the mean, which workgroups that share a row, and threads
 * that do not keep it, take around the means of their parts and join (Chan, Golub & LeVeque 1979).
 */
export type RowPass = { sums: Readonly<Record<string, string>> } | { softmax: string; highest: string; total: string } | { moments: string; sum: string; squares: string }

/** One operation on rows of neighbouring elements. */
export interface RowOp {
  tensors: readonly RowTensor[]
  /** WGSL functions for rows of numbers or of vectors of four. */
  functions?: (width: Width) => string
  /** Lines before the passes, once for a row. */
  before?: string
  passes: readonly RowPass[]
  /** Lines after the passes, once for a row. */
  after?: string
  /** The results: a VF for each element, one f32 for each row, or their mean over all rows, which fits `isMeanInOne` and one pass. */
  result: { each: string; to: BufferName } | { once: string; to: BufferName; type: 'f32' | 'case' } | { mean: string; to: BufferName; arrivals: BufferName }
  /** Integers behind the row's own, from dim(ROW_DIMS) on. */
  dims?: readonly number[]
  scalars?: readonly number[]
  /** Most vectors of a row that a thread keeps in registers, where it is not the usual number. */
  kept?: number
}
