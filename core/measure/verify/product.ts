import type { StorageType } from '../../case'
import type { Values } from '../../values/numbers'
import type { InputValues, MatrixProduct, ReadInput } from '../../ops/types'
import { mix32 } from '../../values/random'
import { ulp } from './difference'

/**
 * Freivalds' check (R. Freivalds, "Probabilistic machines can use less running time", 1977) of a whole product by blocks.
 * For random vectors u, v of ±1 and C = A B holds u C v = (u A)(B v), whose right side costs a product of one row and one
 * column. A wrong element changes the left side by its whole error, whatever the signs.
 *
 * One pair of vectors over the whole of C would drown the error of an element in the rounding of all others: the roundings
 * of w elements add up to sqrt(w) times one of them. So C is cut into blocks of `tall` x `wide` elements, w = tall * wide, each
 * with its own part of u and v: two vectors, u and v, drawn twice. The cost falls from rows*cols*inner to 2/w of that. In units of
 * the standard deviation of C, one rounding has 2^-bits * 0.41 (a spacing of 2^-bits relative to the power of two below, rms over
 * a normal distribution, over sqrt(12)): 0.0016 in bf16, 0.0002 in f16. The two draws together show an error e where
 * e * sqrt(2) stands out from sqrt(w) * 0.0016: with w = 64 in bf16 an error of 4 % of the typical element.
 *
 * The residuals pass no verdict: the blocks that stand out most are compared element by element afterwards, so that noise
 * costs time and never a verdict. Their squares, added up, estimate the error norm over the whole output without bias,
 * because the signs of different elements are independent (the norm is judged by that).
 */
export interface Blocks {
  tall: number
  wide: number
  /** Seed of the signs. */
  signs: number
}

/** Rows from .. from + count of the right factor of a batch, for `projectRight`. */
export interface RightTask {
  kind: 'right'
  blocks: Blocks
  batch: number
  from: number
  count: number
}

/** Rows row .. row + rows of a batch's output, `values`, with its projected right factor. `row` is a multiple of the block height. */
export interface ProductTask {
  kind: 'product'
  blocks: Blocks
  batch: number
  row: number
  rows: number
  values: Values
  /** [draws, blocks across, inner]. */
  right: Float64Array
  /** Error that arithmetic may add to an element besides the rounding of the output. */
  arithmetic: number
}

export interface Residuals {
  /** Mean squared residual of the two draws over the variance that rounding explains, one for each block of the task; Infinity where an element is not finite. */
  scores: Float64Array
  /** Sum over blocks of the mean squared residual: estimates the squared error norm. Blocks with elements that are not finite are left out. */
  squaredError: number
  squaredOutput: number
  nonFinite: number
}

/** Independent draws of the signs. */
const DRAWS = 2

/** Work units: making an input element, reading and projecting an output element. */
const MAKE = 7
const PROJECT = 6
/** Bytes that a projected right factor takes at most. */
const RIGHT_BYTES = 96 * 2 ** 20
/** Blocks larger than this hide too much. */
const MAX_AREA = 4096

export const blocksAcross = (product: Pick<MatrixProduct, 'cols'>, { wide }: Pick<Blocks, 'wide'>): number => Math.ceil(product.cols / wide)

/** Work units of checking a product by blocks of this many elements. */
const costOf = ({ batch, rows, inner, cols, leftCost = MAKE }: MatrixProduct, tall: number, wide: number): number =>
  batch * (inner * (leftCost * rows + MAKE * cols) + PROJECT * rows * cols + DRAWS * inner * Math.ceil(rows / tall) * Math.ceil(cols / wide))

/** The smallest blocks that the work allows; undefined where none do. */
export function chooseBlocks(product: MatrixProduct, work: number, signs: number): Blocks | undefined {
  for (let area = 4; area <= MAX_AREA; area *= 2) {
    const wide = product.wholeRows ? product.cols : Math.min(product.cols, 2 ** Math.ceil(Math.log2(area) / 2))
    const tall = Math.min(product.rows, Math.ceil(area / wide))
    if (costOf(product, tall, wide) <= work && product.inner * Math.ceil(product.cols / wide) * DRAWS * 8 <= RIGHT_BYTES) return { tall, wide, signs }
  }
  return undefined
}

/** ±1 for row or column `i` of one draw. */
const sign = (seed: number, draw: number, side: number, i: number): number => (mix32((seed + Math.imul(i, 0x9e3779b1) + draw * 0x632be5ab + side * 0x2545f491) >>> 0) & 1 ? 1 : -1)

const signsOf = (seed: number, draw: number, side: number, from: number, count: number) => Float64Array.from({ length: count }, (_, i) => sign(seed, draw, side, from + i))

/** B v of each block of columns: [draws, blocks across, count]. */
export function projectRight(product: MatrixProduct, read: ReadInput, { blocks, batch, from, count }: RightTask): Float64Array {
  const across = blocksAcross(product, blocks)
  const right = product.right(read, batch, from, count)
  const out = new Float64Array(count * DRAWS * across)
  for (let draw = 0; draw < DRAWS; draw++) {
    const v = signsOf(blocks.signs, draw, 1, 0, product.cols)
    for (let l = 0; l < count; l++) {
      for (let block = 0, j = 0; block < across; block++) {
        let sum = 0
        for (const end = Math.min(product.cols, j + blocks.wide); j < end; j++) sum += v[j]! * right[l * product.cols + j]!
        out[(draw * across + block) * count + l] = sum
      }
    }
  }
  return out
}

/** Blocks of rows that are projected at a time: a projected column of the right factor is read once for them. */
const TOGETHER = 4

/** u A of rows from .. to; zeros where there are none. */
function signedSum(left: InputValues, u: Float64Array, inner: number, from: number, to: number): Float64Array {
  const sum = new Float64Array(inner)
  for (let i = from; i < to; i++) for (let l = 0, s = u[i]!, base = i * inner; l < inner; l++) sum[l]! += s * left[base + l]!
  return sum
}

/** out[k, b] = sums[k] · right[b] for each of TOGETHER sums and rows of `right`; what lies beyond the end of `out` is dropped. */
function dots([s0, s1, s2, s3]: readonly Float64Array[], right: Float64Array, out: Float64Array): void {
  const inner = s0!.length
  const across = right.length / inner
  for (let b = 0, at = 0; b < across; b++) {
    let [sum0, sum1, sum2, sum3] = [0, 0, 0, 0]
    for (let l = 0; l < inner; l++, at++) {
      const x = right[at]!
      sum0 += s0![l]! * x
      sum1 += s1![l]! * x
      sum2 += s2![l]! * x
      sum3 += s3![l]! * x
    }
    out[b] = sum0
    out[across + b] = sum1
    out[2 * across + b] = sum2
    out[3 * across + b] = sum3
  }
}

/** Compares the projections of output rows with those of the factors. */
export function residuals(product: MatrixProduct, read: ReadInput, storage: StorageType, task: ProductTask): Residuals {
  const { blocks, batch, row, rows, values, right, arithmetic } = task
  const { inner, cols } = product
  const across = blocksAcross(product, blocks)
  const down = Math.ceil(rows / blocks.tall)
  const left = product.left(read, batch, row, rows)
  const squared = new Float64Array(down * across)
  const u = Array.from({ length: DRAWS }, (_, draw) => signsOf(blocks.signs, draw, 0, row, rows))
  const v = Array.from({ length: DRAWS }, (_, draw) => signsOf(blocks.signs, draw, 1, 0, cols))
  const expected = new Float64Array(down * across)
  for (let draw = 0; draw < DRAWS; draw++) {
    for (let block = 0; block < down; block += TOGETHER) {
      const sums = Array.from({ length: TOGETHER }, (_, k) => signedSum(left, u[draw]!, inner, (block + k) * blocks.tall, Math.min(rows, (block + k + 1) * blocks.tall)))
      dots(sums, right.subarray(draw * across * inner, (draw + 1) * across * inner), expected.subarray(block * across))
    }
    for (let block = 0; block < down; block++) {
      const from = block * blocks.tall
      const to = Math.min(rows, from + blocks.tall)
      const got = new Float64Array(across)
      for (let i = from; i < to; i++) {
        for (let b = 0, j = 0; b < across; b++) {
          let sum = 0
          for (const end = Math.min(cols, j + blocks.wide); j < end; j++) sum += v[draw]![j]! * values[i * cols + j]!
          got[b]! += u[draw]![i]! * sum
        }
      }
      for (let b = 0; b < across; b++) squared[block * across + b]! += (got[b]! - expected[block * across + b]!) ** 2 / DRAWS
    }
  }
  const result: Residuals = { scores: squared, squaredError: 0, squaredOutput: 0, nonFinite: 0 }
  const variance = new Float64Array(down * across)
  for (let i = 0; i < rows; i++) {
    for (let j = 0; j < cols; j++) {
      const value = values[i * cols + j]!
      if (!Number.isFinite(value)) {
        result.nonFinite++
        continue
      }
      result.squaredOutput += value * value
      variance[Math.floor(i / blocks.tall) * across + Math.floor(j / blocks.wide)]! += ulp(value, storage) ** 2 / 12 + arithmetic * arithmetic
    }
  }
  for (let b = 0; b < squared.length; b++) {
    const residual = squared[b]!
    if (Number.isFinite(residual)) result.squaredError += residual
    squared[b] = Number.isFinite(residual) ? residual / variance[b]! : Infinity
  }
  return result
}
