import { defineOp } from '../define'
import { matrix } from '../forms'
import { stableOrder } from '../stable-order'
import { exact } from '../tolerance'

/**
 * Each row of x [rows, cols] in ascending order, or descending; equal values stay in their order. Outputs values [rows, cols] and
 * indices [rows, cols], i32: where in its row each value was. PyTorch: torch.sort(x, dim=-1, descending=descending, stable=True), indices int64.
 * dims: [rows, cols, descending as 0 or 1]. Operations: the compares of a merge sort, ceil(log2(cols)) per element.
 */
export default defineOp<{ rows: number; cols: number; descending: boolean }>({
  id: 'sort',
  family: 'order',
  summary: 'Sorted rows and the indices that sort them',
  torch: 'torch.sort(x, dim=-1, descending=descending, stable=True)',
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
