import type { MatrixProduct, ReadInput } from '../types'

export type AttentionParams = { batch: number; heads: number; kvHeads: number; seqQ: number; seqK: number; headDim: number; causal: boolean }

/** Queries that are worked on together, and keys that are read at a time: bounds memory. */
export const QUERIES = 32
const KEYS = 256

/** Output elements `start .. start + count`. Keys and values are read once for up to QUERIES queries of a head; queries that are asked for in part are computed whole. */
export function attendedRows(p: AttentionParams, read: ReadInput, start: number, count: number): Float64Array {
  const { seqQ, headDim } = p
  const first = Math.floor(start / headDim)
  const end = Math.ceil((start + count) / headDim)
  const out = new Float64Array((end - first) * headDim)
  for (let row = first; row < end; ) {
    const query = row % seqQ
    const rows = Math.min(QUERIES, end - row, seqQ - query)
    attend(p, read, { head: Math.floor(row / seqQ), query, rows }, out.subarray((row - first) * headDim))
    row += rows
  }
  return out.length === count ? out : out.slice(start - first * headDim, start - first * headDim + count)
}

/** The output as the weights of the keys times the values, head by head, for core/measure/verify/product.ts. */
export function asProduct(p: AttentionParams): MatrixProduct {
  const { batch, heads, seqQ, seqK, headDim, causal } = p
  return {
    batch: batch * heads, rows: seqQ, inner: seqK, cols: headDim,
    left: (read, head, query, rows) => {
      const left = new Float64Array(rows * seqK)
      for (let from = 0; from < rows; from += QUERIES) {
        const some = Math.min(QUERIES, rows - from)
        const { weights, keys } = weightsOf(p, read, { head, query: query + from, rows: some })
        for (let r = 0; r < some; r++) left.set(weights.subarray(r * keys, (r + 1) * keys), (from + r) * seqK)
      }
      return left
    },
    right: (read, head, from, count) => read(2, (keyHead(p, head) * seqK + from) * headDim, count * headDim),
    // A weight is a product of headDim terms and an exponential; half of them are computed with causal.
    leftCost: (causal ? 0.5 : 1) * (headDim * 1.4 + 8),
    wholeRows: true,
  }
}

/** Some queries of one head; `head` counts the heads of all batches. */
interface Queries {
  head: number
  query: number
  rows: number
}

/** The head of keys and values that a head reads, counted over all batches. */
const keyHead = ({ heads, kvHeads }: AttentionParams, head: number): number => Math.floor(head / heads) * kvHeads + Math.floor((head % heads) / (heads / kvHeads))

/** Softmax of the scores of each query over the keys that the last of them sees: [rows, keys]. */
function weightsOf(p: AttentionParams, read: ReadInput, { head, query, rows }: Queries): { weights: Float64Array; keys: number } {
  const { seqQ, seqK, headDim, causal } = p
  const source = keyHead(p, head) * seqK * headDim
  const keys = causal ? Math.min(seqK, query + rows) : seqK
  const q = read(0, (head * seqQ + query) * headDim, rows * headDim)
  const weights = new Float64Array(rows * keys)
  const scale = 1 / Math.sqrt(headDim)
  for (let from = 0; from < keys; from += KEYS) {
    const some = Math.min(KEYS, keys - from)
    const k = read(1, source + from * headDim, some * headDim)
    for (let r = 0; r < rows; r++) {
      const a = r * headDim
      const at = r * keys + from
      let j = 0
      // Four keys at a time: their sums do not wait for each other.
      for (; j + 3 < some; j += 4) {
        let [sum0, sum1, sum2, sum3] = [0, 0, 0, 0]
        for (let i = 0, b = j * headDim; i < headDim; i++, b++) {
          const x = q[a + i]!
          sum0 += x * k[b]!
          sum1 += x * k[b + headDim]!
          sum2 += x * k[b + 2 * headDim]!
          sum3 += x * k[b + 3 * headDim]!
        }
        weights[at + j] = sum0 * scale
        weights[at + j + 1] = sum1 * scale
        weights[at + j + 2] = sum2 * scale
        weights[at + j + 3] = sum3 * scale
      }
      for (; j < some; j++) {
        let sum = 0
        for (let i = 0, b = j * headDim; i < headDim; i++, b++) sum += q[a + i]! * k[b]!
        weights[at + j] = sum * scale
      }
    }
  }
  for (let r = 0; r < rows; r++) softmax(weights.subarray(r * keys, (r + 1) * keys), causal ? Math.min(keys, query + r + 1) : keys)
  return { weights, keys }
}

/** Adds the values by their weights to `out` [rows, headDim]. */
function attend(p: AttentionParams, read: ReadInput, queries: Queries, out: Float64Array): void {
  const { seqK, headDim } = p
  const { weights, keys } = weightsOf(p, read, queries)
  const source = keyHead(p, queries.head) * seqK * headDim
  for (let from = 0; from < keys; from += KEYS) {
    const some = Math.min(KEYS, keys - from)
    const v = read(2, source + from * headDim, some * headDim)
    for (let r = 0; r < queries.rows; r++) {
      const a = r * headDim
      const at = r * keys + from
      let j = 0
      for (; j + 3 < some; j += 4) {
        const w0 = weights[at + j]!
        const w1 = weights[at + j + 1]!
        const w2 = weights[at + j + 2]!
        const w3 = weights[at + j + 3]!
        for (let i = 0, b = j * headDim; i < headDim; i++, b++) out[a + i] = out[a + i]! + w0 * v[b]! + w1 * v[b + headDim]! + w2 * v[b + 2 * headDim]! + w3 * v[b + 3 * headDim]!
      }
      for (; j < some; j++) for (let i = 0, b = j * headDim, weight = weights[at + j]!; i < headDim; i++, b++) out[a + i]! += weight * v[b]!
    }
  }
}

/** Softmax of the first `seen` scores in place; the rest become zero. */
function softmax(scores: Float64Array, seen: number): void {
  let max = -Infinity
  for (let i = 0; i < seen; i++) if (scores[i]! > max) max = scores[i]!
  let sum = 0
  for (let i = 0; i < seen; i++) sum += scores[i] = Math.exp(scores[i]! - max)
  for (let i = 0; i < seen; i++) scores[i]! /= sum
  scores.fill(0, seen)
}
