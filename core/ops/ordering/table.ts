import type { Values } from '../../values/numbers'
import { flagAt, isLast, numberAt, overRows, rowsOf, shapeAt } from '../aten'
import { defineOp, divisorUpTo, oncePerRead, exact, accumulated } from '../define'
import { matrix } from '../forms'
import type { InputValues, ReadInput } from '../types'

/**
 * Each row of x [rows, cols] in ascending order, or descending; equal values stay in their order. Outputs values [rows, cols] and
 * indices [rows, cols], i32: where in its row each value was. PyTorch: torch.sort(x, dim=-1, descending=descending, stable=True), indices int64.
 * dims: [rows, cols, descending as 0 or 1]. Operations: the compares of a merge sort, ceil(log2(cols)) per element.
 */
export const sort = defineOp<{ rows: number; cols: number; descending: boolean }>({
  id: 'sort',
  family: 'order',
  summary: 'Sorted rows and the indices that sort them',
  torch: 'torch.sort(x, dim=-1, descending=descending, stable=True)',
  aten: [{ names: ['sort'], params: (call) => { const shape = shapeAt(call, 0); return shape && isLast(numberAt(call, 1, -1), shape) ? { ...rowsOf(shape), ...(flagAt(call, 2) ? { descending: true } : {}) } : undefined } }],
  size: matrix,
  attributes: { descending: { title: 'Descending', kind: 'flag', default: false } },
  dtypes: ['f32', 'f16', 'bf16'],
  tensors: ({ rows, cols }) => [
    { name: 'x', shape: [rows, cols], role: 'in', fill: { kind: 'normal', scale: 1 } },
    { name: 'values', shape: [rows, cols], role: 'out' },
    { name: 'indices', shape: [rows, cols], storage: 'i32', role: 'out' },
  ],
  dims: ({ rows, cols, descending }) => [rows, cols, Number(descending)],
  flops: ({ rows, cols }) => rows * cols * Math.ceil(Math.log2(cols)),
  granule: ({ cols }) => cols,
  // The buckets of the radix sort are gone through whatever the length.
  referenceCost: ({ cols }) => 24 + 6000 / cols,
  reference: ({ cols, descending }, read, start, count, output) => {
    const out = new Float64Array(count)
    for (let at = 0; at < count; at += cols) {
      const x = read(0, start + at, cols)
      const order = stableOrder(x, descending)
      for (let i = 0; i < cols; i++) out[at + i] = output === 0 ? x[order[i]!]! : order[i]!
    }
    return out
  },
  tolerance: () => exact,
})

/** Elements of a long row from which it is guessed how large its first ones are. */
const SAMPLES = 4096

/** Indices of the k largest of `values`, the largest first, equal ones by first index: of a long row only those are sorted that are likely to be among them. */
function largest(values: InputValues, k: number): Int32Array {
  const step = Math.floor(values.length / SAMPLES)
  const rank = Math.ceil((1.25 * k) / Math.max(1, step)) + 16
  if (step > 1 && rank < SAMPLES / 2) {
    const least = Float64Array.from({ length: SAMPLES }, (_, i) => values[i * step]!).sort()[SAMPLES - rank]!
    const likely: number[] = []
    // NaN is the largest of all.
    for (let i = 0; i < values.length; i++) if (!(values[i]! < least)) likely.push(i)
    if (likely.length >= k) return stableOrder(Float64Array.from(likely, (i) => values[i]!), true).subarray(0, k).map((place) => likely[place]!)
  }
  return stableOrder(values, true).subarray(0, k)
}

/**
 * The k largest elements of each row of x [rows, cols], the largest first, equal ones by first index. Outputs values [rows, k] and
 * indices [rows, k], i32. PyTorch: torch.topk(x, k, -1), which leaves the order of equal values open: where a result is at hand,
 * any order of equal values is right, each index once. dims: [rows, cols, k]. One compare per element of x.
 */
export const topk = defineOp<{ rows: number; cols: number; k: number }>({
  id: 'topk',
  family: 'order',
  summary: 'Largest elements of each row and their indices',
  torch: 'torch.topk(x, k, -1)',
  aten: [{ names: ['topk'], params: (call) => { const shape = shapeAt(call, 0); return shape && isLast(numberAt(call, 2, -1), shape) ? { ...rowsOf(shape), k: numberAt(call, 1, 1) } : undefined } }],
  size: matrix,
  attributes: { k: { title: 'K', kind: 'number', default: 8, min: 1, max: 2 ** 20, whole: true } },
  refuse: ({ cols, k }) => (k <= cols ? undefined : `k (${k}) must not exceed cols (${cols})`),
  dtypes: ['f32', 'f16', 'bf16'],
  tensors: ({ rows, cols, k }) => [
    { name: 'x', shape: [rows, cols], role: 'in', fill: { kind: 'normal', scale: 1 } },
    { name: 'values', shape: [rows, k], role: 'out' },
    { name: 'indices', shape: [rows, k], storage: 'i32', role: 'out' },
  ],
  dims: ({ rows, cols, k }) => [rows, cols, k],
  flops: ({ rows, cols }) => rows * cols,
  granule: ({ k }) => k,
  referenceCost: ({ cols, k }) => (4 * cols + 24 * Math.min(cols, 2 * k + SAMPLES) + 6000) / k,
  reference: ({ cols, k }, read, start, count, output, got) => {
    const out = new Float64Array(count)
    for (let at = 0; at < count; at += k) {
      const x = read(0, ((start + at) / k) * cols, cols)
      const order = largest(x, k)
      for (let i = 0; i < k; i++) out[at + i] = output === 0 ? x[order[i]!]! : order[i]!
      if (output === 1 && got) out.set(withTies(x, order, got.subarray(at, at + k)), at)
    }
    return out
  },
  tolerance: () => exact,
})

/** The indices of `got` where they name an element equal to the right one and not named before; else those of `order`. */
function withTies(x: InputValues, order: Int32Array, got: Values): Int32Array {
  const used = new Set<number>()
  return order.map((right, i) => {
    const index = got[i]!
    const fits = x[index] === x[right] && !used.has(index)
    if (fits) used.add(index)
    return fits ? index : right
  })
}

/** Longest part of a row that the reference works out at once. */
const PART = 2 ** 16

/** Sum of the elements of a row in front of part `part`, kept so that neighbouring parts do not start over. */
function sumBefore(cols: number, size: number, read: ReadInput, row: number, part: number): number {
  const sums = oncePerRead(read, `cumsum ${cols} ${row}`, () => [0])
  for (let at = sums.length - 1; at < part; at++) {
    const x = read(0, row * cols + at * size, size)
    let sum = sums[at]!
    for (let i = 0; i < size; i++) sum += x[i]!
    sums.push(sum)
  }
  return sums[part]!
}

/**
 * Sums of the elements up to each one along the last axis of x [rows, cols]: out[r, i] = x[r, 0] + ... + x[r, i], accumulated in f32.
 * PyTorch: torch.cumsum(x, -1). dims: [rows, cols]. One add per element.
 */
export const cumsum = defineOp<{ rows: number; cols: number }>({
  id: 'cumsum',
  family: 'order',
  summary: 'Cumulative sum along the last axis',
  torch: 'torch.cumsum(x, -1)',
  aten: [overRows(['cumsum'])],
  size: matrix,
  dtypes: ['f32', 'f16', 'bf16'],
  tensors: ({ rows, cols }) => [
    { name: 'x', shape: [rows, cols], role: 'in', fill: { kind: 'normal', scale: 1 } },
    { name: 'out', shape: [rows, cols], role: 'out' },
  ],
  dims: ({ rows, cols }) => [rows, cols],
  flops: ({ rows, cols }) => rows * cols,
  granule: ({ cols }) => divisorUpTo(cols, PART),
  // A part of a long row needs all in front of it.
  referenceCost: ({ cols }) => 3 + (3 * (cols / divisorUpTo(cols, PART) - 1)) / 2,
  reference: ({ cols }, read, start, count) => {
    const size = divisorUpTo(cols, PART)
    const out = new Float64Array(count)
    for (let at = 0; at < count; at += size) {
      const row = Math.floor((start + at) / cols)
      let sum = sumBefore(cols, size, read, row, ((start + at) % cols) / size)
      const x = read(0, start + at, size)
      for (let i = 0; i < size; i++) out[at + i] = sum += x[i]!
    }
    return out
  },
  tolerance: ({ cols }, dtype) => accumulated(dtype, cols),
})

const BITS = 11
const BUCKETS = 1 << BITS

/**
 * Indices of `values` in ascending or descending order, equal values by first index: a radix sort on the bits of f32, which hold every
 * storage type exactly. -0 equals 0, NaN is above infinity.
 */
function stableOrder(values: InputValues, descending: boolean): Int32Array {
  const count = values.length
  const floats = new Float32Array(count)
  // Adding zero turns -0 into 0.
  for (let i = 0; i < count; i++) floats[i] = values[i]! + 0
  const keys = new Uint32Array(floats.buffer)
  // One NaN, without a sign.
  for (let i = 0; i < count; i++) if (Number.isNaN(floats[i]!)) keys[i] = 0x7fffffff
  for (let i = 0; i < count; i++) {
    const ascending = (keys[i]! & 0x80000000 ? ~keys[i]! : keys[i]! | 0x80000000) >>> 0
    keys[i] = descending ? ~ascending : ascending
  }
  let order = Int32Array.from({ length: count }, (_, i) => i)
  let next = new Int32Array(count)
  const starts = new Int32Array(BUCKETS + 1)
  for (let shift = 0; shift < 32; shift += BITS) {
    starts.fill(0)
    for (let i = 0; i < count; i++) starts[((keys[i]! >>> shift) & (BUCKETS - 1)) + 1]!++
    for (let bucket = 0; bucket < BUCKETS; bucket++) starts[bucket + 1]! += starts[bucket]!
    for (let i = 0; i < count; i++) next[starts[(keys[order[i]!]! >>> shift) & (BUCKETS - 1)]!++] = order[i]!
    ;[order, next] = [next, order]
  }
  return order
}

export default [sort, topk, cumsum]
