import { STORAGE_BYTES, storageOf } from '../../case'
import { defineOp } from '../define'
import { table } from '../forms'
import { exact } from '../tolerance'
import { distinct } from '../distinct'

/**
 * out[i] = weight[indices[i]]: rows of a table [rows, dim] by indices [indices], i32, in range. out [indices, dim].
 * PyTorch: torch.nn.functional.embedding(indices, weight). dims: [rows, dim, indices].
 * The least traffic counts each row once that `indices` random indices name on average.
 */
export default defineOp<{ rows: number; dim: number; indices: number }>({
  id: 'embedding',
  family: 'lookup',
  summary: 'Rows of a table by index',
  torch: 'F.embedding(indices, weight)',
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
