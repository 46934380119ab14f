import type { Params } from '../../case'
import { flagAt, isTensor, shapeAt, type AtenCall } from '../aten'
import { defineOp, divisorUpTo, normalized } from '../define'
import { attention } from '../forms'
import type { MatrixProduct, ReadInput } from '../types'

/** Query and key pairs of one head that are computed: with `causal`, those of the triangle, of which a square holds half. */
const pairs = ({ seqQ, seqK, causal }: AttentionParams): number => (!causal ? seqQ * seqK : seqQ <= seqK ? (seqQ * seqQ) / 2 : seqQ * seqK - (seqK * seqK) / 2)

/** Keys that some query sees. */
const keysSeen = ({ seqQ, seqK, causal }: AttentionParams): number => (causal ? Math.min(seqQ, seqK) : seqK)

/**
 * out = softmax(q kᵀ / sqrt(headDim)) v for each batch and head, the softmax over keys (Vaswani et al. 2017).
 * q [batch, heads, seqQ, headDim], k and v [batch, kvHeads, seqK, headDim], out as q. Head h reads the keys and values of head
 * h / (heads / kvHeads), rounded down. causal: query i sees keys 0 .. i, counted from the first key whatever the two lengths are.
 * PyTorch: F.scaled_dot_product_attention(q, k, v, is_causal=causal, enable_gqa=heads != kvHeads).
 * dims: [batch, heads, kvHeads, seqQ, seqK, headDim, causal as 0 or 1].
 * Operations: 4 * batch * heads * seqQ * seqK * headDim, half of that with causal (the part below the diagonal where the lengths differ);
 * the softmax is not counted.
 */
export default defineOp<AttentionParams>({
  id: 'scaled_dot_product_attention',
  family: 'attention',
  summary: 'Scaled dot product attention',
  torch: 'F.scaled_dot_product_attention(q, k, v, is_causal=causal, enable_gqa=heads != kvHeads)',
  size: attention,
  aten: [
    { names: ['_scaled_dot_product_flash_attention', '_scaled_dot_product_flash_attention_for_cpu'], params: (call) => attendedWith(call, 4) },
    { names: ['_scaled_dot_product_efficient_attention', '_scaled_dot_product_cudnn_attention'], params: (call) => attendedWith(call, 6) },
  ],
  attributes: { causal: { title: 'Causal', kind: 'flag', default: false } },
  refuse: ({ heads, kvHeads }) => (heads % kvHeads === 0 ? undefined : `kvHeads (${kvHeads}) must divide heads (${heads})`),
  dtypes: ['f32', 'f16', 'bf16'],
  tensors: (p, dtype) => {
    const { batch, heads, kvHeads, seqQ, seqK, headDim } = p
    const leastBytes = batch * kvHeads * keysSeen(p) * headDim * (dtype === 'f32' ? 4 : 2)
    return [
      { name: 'q', shape: [batch, heads, seqQ, headDim], role: 'in', fill: { kind: 'normal', scale: 1 } },
      { name: 'k', shape: [batch, kvHeads, seqK, headDim], role: 'in', fill: { kind: 'normal', scale: 1 }, leastBytes },
      { name: 'v', shape: [batch, kvHeads, seqK, headDim], role: 'in', fill: { kind: 'normal', scale: 1 }, leastBytes },
      { name: 'out', shape: [batch, heads, seqQ, headDim], role: 'out' },
    ]
  },
  dims: ({ batch, heads, kvHeads, seqQ, seqK, headDim, causal }) => [batch, heads, kvHeads, seqQ, seqK, headDim, Number(causal)],
  flops: (p) => 4 * p.batch * p.heads * pairs(p) * p.headDim,
  unit: () => 'matrix',
  // A few neighbouring queries share their reads of the keys and values.
  granule: ({ seqQ, headDim }) => headDim * divisorUpTo(seqQ, 4),
  // Two multiply-adds a key, and the generation of a key and a value at four units an element, for so many queries together.
  referenceCost: (p) => (2 + 8 / Math.min(QUERIES, p.seqQ)) * (pairs(p) / p.seqQ) + 8,
  referenceCostAlone: (p) => (2 + 8 / divisorUpTo(p.seqQ, 4)) * keysSeen(p) + 8,
  reference: attendedRows,
  product: asProduct,
  // The weights of 16-bit kernels are rounded before they meet V, so that an output is off by a share of what it averages; a
  // query that sees few keys averages little away.
  tolerance: (p, dtype) => {
    const { relL2, element } = normalized(dtype, keysSeen(p))
    return { relL2, element: { ulp: element.ulp, abs: relL2 * Math.min(0.5, 4 * Math.sqrt(Math.E / (p.causal ? 1 : p.seqK))) } }
  },
})

/** `attention(q, k, v, ...)` with the flag of causality at a place; undefined with a mask, which this op does not have. */
function attendedWith(call: AtenCall, causal: number): Params | undefined {
  const [q, k] = [shapeAt(call, 0), shapeAt(call, 1)]
  if (q?.length !== 4 || k?.length !== 4 || isTensor(call.args[3]) || isTensor(call.kwargs['attn_mask'])) return undefined
  const [batch, heads, seqQ, headDim] = q as [number, number, number, number]
  return { batch, heads, kvHeads: k[1]!, seqQ, seqK: k[2]!, headDim, ...(flagAt(call, causal) ? { causal: true } : {}) }
}

type AttentionParams = { batch: number; heads: number; kvHeads: number; seqQ: number; seqK: number; headDim: number; causal: boolean }

/** Queries that are worked on together, and keys that are read at a time: bounds memory. */
const QUERIES = 32
const KEYS = 256

/** Output elements `start .. start + count`. Keys and values are read once for up to QUERIES queries of a head; queries that are asked for in part are computed whole. */
function attendedRows(p: AttentionParams, read: ReadInput, start: number, count: number): Float64Array {
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
function asProduct(p: AttentionParams): MatrixProduct {
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
