import { STORAGE_BYTES, storageOf } from '../../case'
import { shapeAt } from '../aten'
import { defineOp, oncePerRead, exact, accumulated, runsOfRows, WORTH_A_READ } from '../define'
import { table } from '../forms'
import type { ReadInput } from '../types'

/**
 * out[i] = weight[indices[i]]: rows of a table [rows, dim] by indices [indices], i32, in range. out [indices, dim].
 * PyTorch: torch.nn.functional.embedding(indices, weight). dims: [rows, dim, indices].
 * The least traffic counts each row once that `indices` random indices name on average.
 */
export const embedding = defineOp<{ rows: number; dim: number; indices: number }>({
  id: 'embedding',
  family: 'lookup',
  summary: 'Rows of a table by index',
  torch: 'F.embedding(indices, weight)',
  aten: [{ names: ['embedding'], params: (call) => { const [weight, indices] = [shapeAt(call, 0), shapeAt(call, 1)]; return weight && indices && { rows: weight[0]!, dim: weight[1]!, indices: indices.reduce((a, b) => a * b, 1) } } }],
  size: table,
  dtypes: ['f32', 'f16', 'bf16'],
  tensors: ({ rows, dim, indices }, dtype) => [
    { name: 'indices', shape: [indices], storage: 'i32', role: 'in', fill: { kind: 'integers', below: rows } },
    { name: 'weight', shape: [rows, dim], role: 'in', fill: { kind: 'normal', scale: 1 }, leastBytes: distinct(rows, indices) * dim * STORAGE_BYTES[storageOf(dtype)] },
    { name: 'out', shape: [indices, dim], role: 'out' },
  ],
  dims: ({ rows, dim, indices }) => [rows, dim, indices],
  flops: () => 0,
  granule: ({ dim }) => dim,
  referenceCost: ({ dim }) => 2 + 50 / dim,
  reference: ({ dim }, read, start, count) => {
    const indices = read(0, start / dim, count / dim)
    const out = new Float64Array(count)
    for (let i = 0; i < indices.length; i++) out.set(read(1, indices[i]! * dim, dim), i * dim)
    return out
  },
  tolerance: () => exact,
})

/** Tables up to this many elements are read once and kept while a case is compared; of longer ones each element by itself. */
const KEPT = 2 ** 22

/**
 * out[i, j] = x[index[i, j], j]: elements along the first axis of x [rows, dim] by index [indices, dim], i32, in range.
 * PyTorch: torch.gather(x, 0, index). dims: [rows, dim, indices].
 * The least traffic counts each element once that the random indices name on average.
 */
export const gather = defineOp<{ rows: number; dim: number; indices: number }>({
  id: 'gather',
  family: 'lookup',
  summary: 'Elements of a table by index, each for itself',
  torch: 'torch.gather(x, 0, index)',
  size: table,
  dtypes: ['f32', 'f16', 'bf16'],
  tensors: ({ rows, dim, indices }, dtype) => [
    { name: 'x', shape: [rows, dim], role: 'in', fill: { kind: 'normal', scale: 1 }, leastBytes: distinct(rows, indices) * dim * STORAGE_BYTES[storageOf(dtype)] },
    { name: 'index', shape: [indices, dim], storage: 'i32', role: 'in', fill: { kind: 'integers', below: rows } },
    { name: 'out', shape: [indices, dim], role: 'out' },
  ],
  dims: ({ rows, dim, indices }) => [rows, dim, indices],
  flops: () => 0,
  referenceCost: ({ rows, dim, indices }) => (rows * dim <= KEPT ? 2 + (4 * rows) / indices : 50),
  reference: ({ rows, dim }, read, start, count) => {
    const index = read(1, start, count)
    const out = new Float64Array(count)
    const whole = rows * dim <= KEPT ? oncePerRead(read, `gather ${rows} ${dim}`, () => read(0, 0, rows * dim)) : undefined
    for (let i = 0; i < count; i++) {
      const at = index[i]! * dim + ((start + i) % dim)
      out[i] = whole ? whole[at]! : read(0, at, 1)[0]!
    }
    return out
  },
  tolerance: () => exact,
})

type ScatterParams = { rows: number; dim: number; indices: number }

/** For each row of the table the sources that are added to it: sources[first[row] .. first[row + 1]], in order. */
function places({ rows, indices }: ScatterParams, read: ReadInput): { first: Int32Array; sources: Int32Array } {
  return oncePerRead(read, `scatter_add ${rows} ${indices}`, () => {
    const index = read(1, 0, indices)
    const first = new Int32Array(rows + 1)
    for (let i = 0; i < indices; i++) first[index[i]! + 1]!++
    for (let row = 0; row < rows; row++) first[row + 1]! += first[row]!
    const next = first.slice()
    const sources = new Int32Array(indices)
    for (let i = 0; i < indices; i++) sources[next[index[i]!]!++] = i
    return { first, sources }
  })
}

/** Whether the sources of `count` elements of the output are so many that reading all sources in order takes less than reading these one by one. */
const isSequential = ({ rows, dim }: ScatterParams, count: number): boolean => (count / dim / rows) * (WORTH_A_READ + dim) >= 1 + dim

/** Adds to `out`, the rows from element `start` on, what belongs to them of all sources in order. */
function addedInOrder({ dim, indices }: ScatterParams, read: ReadInput, start: number, out: Float64Array): Float64Array {
  for (const [first, count] of runsOfRows(indices, dim)) {
    const index = read(1, first, count)
    const src = read(2, first * dim, count * dim)
    for (let place = 0; place < count; place++) {
      const at = index[place]! * dim - start
      if (at < 0 || at >= out.length) continue
      for (let i = 0; i < dim; i++) out[at + i]! += src[place * dim + i]!
    }
  }
  return out
}

/**
 * out = x [rows, dim] with out[index[i]] += src[i] for every row of src [indices, dim], index [indices], i32, in range. The order of
 * additions is free. PyTorch: x.scatter_add(0, index[:, None].expand(-1, dim), src), the way gradients of embeddings and graph
 * layers are summed. dims: [rows, dim, indices]. One add per element of src.
 */
export const scatterAdd = defineOp<ScatterParams>({
  id: 'scatter_add',
  family: 'lookup',
  summary: 'Rows added into a table by index',
  torch: 'x.scatter_add(0, index[:, None].expand(-1, dim), src)',
  size: table,
  dtypes: ['f32', 'f16', 'bf16'],
  tensors: ({ rows, dim, indices }) => [
    { name: 'x', shape: [rows, dim], role: 'in', fill: { kind: 'normal', scale: 1 } },
    { name: 'index', shape: [indices], storage: 'i32', role: 'in', fill: { kind: 'integers', below: rows } },
    { name: 'src', shape: [indices, dim], role: 'in', fill: { kind: 'normal', scale: 1 } },
    { name: 'out', shape: [rows, dim], role: 'out' },
  ],
  dims: ({ rows, dim, indices }) => [rows, dim, indices],
  flops: ({ dim, indices }) => indices * dim,
  granule: ({ dim }) => dim,
  referenceCost: ({ rows, dim, indices }) => 4 + 4 * (indices / rows) * (1 + 2 / dim),
  reference: (p, read, start, count) => {
    const { dim } = p
    const out = Float64Array.from(read(0, start, count))
    if (isSequential(p, count)) return addedInOrder(p, read, start, out)
    const { first, sources } = places(p, read)
    for (let at = 0; at < count; at += dim) {
      const row = (start + at) / dim
      for (let place = first[row]!; place < first[row + 1]!; place++) {
        const src = read(2, sources[place]! * dim, dim)
        for (let i = 0; i < dim; i++) out[at + i]! += src[i]!
      }
    }
    return out
  },
  // A row is met by indices / rows sources on average, and by some tens more where that is few.
  tolerance: ({ rows, indices }, dtype) => accumulated(dtype, (2 * indices) / rows + 32),
  outputScale: ({ rows, indices }) => Math.sqrt(1 + indices / rows),
})

/** How many of `below` values `draws` random draws meet on average, rounded: rows of a table that must be read. */
const distinct = (below: number, draws: number): number => Math.min(below, draws, Math.max(1, Math.round(below * -Math.expm1(draws * Math.log1p(-1 / below)))))

export default [embedding, gather, scatterAdd]
