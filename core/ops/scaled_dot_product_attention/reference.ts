import type { ReadInput } from '../types'

export type AttentionParams = { batch: number; heads: number; kvHeads: number; seqQ: number; seqK: number; headDim: number; causal: boolean }

/** Queries that are worked on together, and keys that are read at a time: bounds memory. */
const QUERIES = 32
const KEYS = 256

/** Output elements `start .. start + count`, whole queries. Keys and values are read once for up to QUERIES queries of a head. */
export function attendedRows(p: AttentionParams, read: ReadInput, start: number, count: number): Float64Array {
  const { seqQ, headDim } = p
  const out = new Float64Array(count)
  const end = (start + count) / headDim
  for (let row = start / headDim; row < end; ) {
    const query = row % seqQ
    const rows = Math.min(QUERIES, end - row, seqQ - query)
    out.set(block(p, read, Math.floor(row / seqQ), query, rows), row * headDim - start)
    row += rows
  }
  return out
}

/** `rows` queries from `query` on of one head; `head` counts the heads of all batches. */
function block({ heads, kvHeads, seqQ, seqK, headDim, causal }: AttentionParams, read: ReadInput, head: number, query: number, rows: number): Float64Array {
  const source = (Math.floor(head / heads) * kvHeads + Math.floor((head % heads) / (heads / kvHeads))) * seqK * headDim
  const keys = causal ? Math.min(seqK, query + rows) : seqK
  const q = read(0, (head * seqQ + query) * headDim, rows * headDim)
  const scores = new Float64Array(rows * keys)
  const scale = 1 / Math.sqrt(headDim)
  for (let from = 0; from < keys; from += KEYS) {
    const some = Math.min(KEYS, keys - from)
    const k = read(1, source + from * headDim, some * headDim)
    for (let r = 0; r < rows; r++) {
      for (let j = 0; j < some; j++) {
        let sum = 0
        for (let i = 0, a = r * headDim, b = j * headDim; i < headDim; i++) sum += q[a + i]! * k[b + i]!
        scores[r * keys + from + j] = sum * scale
      }
    }
  }
  for (let r = 0; r < rows; r++) softmax(scores.subarray(r * keys, (r + 1) * keys), causal ? Math.min(keys, query + r + 1) : keys)
  const out = new Float64Array(rows * headDim)
  for (let from = 0; from < keys; from += KEYS) {
    const some = Math.min(KEYS, keys - from)
    const v = read(2, source + from * headDim, some * headDim)
    for (let r = 0; r < rows; r++) {
      for (let j = 0; j < some; j++) {
        const weight = scores[r * keys + from + j]!
        if (weight === 0) continue
        for (let i = 0, a = r * headDim, b = j * headDim; i < headDim; i++) out[a + i]! += weight * v[b + i]!
      }
    }
  }
  return out
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
