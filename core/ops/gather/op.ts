import { STORAGE_BYTES, storageOf } from '../../case'
import { defineOp } from '../define'
import { table } from '../forms'
import { oncePerRead } from '../memo'
import { exact } from '../tolerance'
import { distinct } from '../distinct'

/** Tables up to this many elements are read once and kept while a case is compared; of longer ones each element by itself. */
const KEPT = 2 ** 22

/**
 * out[i, j] = x[index[i, j], j]: elements along the first axis of x [rows, dim] by index [indices, dim], i32, in range.
 * PyTorch: torch.gather(x, 0, index). dims: [rows, dim, indices].
 * The least traffic counts each element once that the random indices name on average.
 */
export default defineOp<{ rows: number; dim: number; indices: number }>({
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
