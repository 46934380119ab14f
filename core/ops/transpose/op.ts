import { defineOp, exact } from '../define'
import { matrix } from '../forms'

/**
 * Transpose in memory: out[c, r] = x[r, c]. PyTorch: x.t().contiguous(). Input: x [rows, cols]; output [cols, rows].
 * dims: [rows, cols]. No arithmetic; its bandwidth is compared with that of copy.
 */
export default defineOp<{ rows: number; cols: number }>({
  id: 'transpose',
  family: 'memory',
  summary: 'Transpose of a matrix, written to memory',
  torch: 'x.t().contiguous()',
  size: matrix,
  dtypes: ['f32', 'f16', 'bf16'],
  tensors: ({ rows, cols }) => [
    { name: 'x', shape: [rows, cols], role: 'in', fill: { kind: 'normal', scale: 1 } },
    { name: 'out', shape: [cols, rows], role: 'out' },
  ],
  dims: ({ rows, cols }) => [rows, cols],
  flops: () => 0,
  // Reads of x are as short as the range has columns, so their fixed cost counts.
  referenceCost: () => 8,
  reference: ({ rows, cols }, read, start, count) => {
    const out = new Float64Array(count)
    const first = Math.floor(start / rows)
    const width = Math.floor((start + count - 1) / rows) - first + 1
    for (let k = 0; k < Math.min(rows, count); k++) {
      const r = (start + k) % rows
      const from = Math.max(0, Math.ceil((start - r) / rows) - first)
      const to = Math.min(width, Math.floor((start + count - 1 - r) / rows) - first + 1)
      const part = read(0, r * cols + first + from, to - from)
      for (let c = from; c < to; c++) out[(first + c) * rows + r - start] = part[c - from]!
    }
    return out
  },
  tolerance: () => exact,
})
