import { defineOp } from '../define'
import { table } from '../forms'
import { oncePerRead } from '../memo'
import { accumulated } from '../tolerance'
import type { ReadInput } from '../types'

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

/**
 * out = x [rows, dim] with out[index[i]] += src[i] for every row of src [indices, dim], index [indices], i32, in range. The order of
 * additions is free. PyTorch: x.scatter_add(0, index[:, None].expand(-1, dim), src), the way gradients of embeddings and graph
 * layers are summed. dims: [rows, dim, indices]. One add per element of src.
 */
export default defineOp<ScatterParams>({
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
    const { first, sources } = places(p, read)
    const out = Float64Array.from(read(0, start, count))
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
})
