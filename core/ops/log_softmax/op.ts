import { defineOp } from '../define'
import { matrix } from '../forms'
import { normalized } from '../tolerance'

/**
 * Over the last axis of x [rows, cols]: out = x - max - log(sum of e^(x - max)), max and sum taken within the row.
 * PyTorch: torch.log_softmax(x, -1). dims: [rows, cols].
 * Five operations per element: compare, subtract, exponential, add, subtract.
 */
export default defineOp<{ rows: number; cols: number }>({
  id: 'log_softmax',
  family: 'softmax',
  summary: 'Logarithm of softmax over the last axis',
  torch: 'torch.log_softmax(x, -1)',
  size: matrix,
  dtypes: ['f32', 'f16', 'bf16'],
  tensors: ({ rows, cols }) => [
    { name: 'x', shape: [rows, cols], role: 'in', fill: { kind: 'normal', scale: 1 } },
    { name: 'out', shape: [rows, cols], role: 'out' },
  ],
  dims: ({ rows, cols }) => [rows, cols],
  flops: ({ rows, cols }) => 5 * rows * cols,
  unit: () => 'special',
  granule: ({ cols }) => cols,
  referenceCost: () => 8,
  reference: ({ cols }, read, start, count) => {
    const out = new Float64Array(count)
    for (let at = 0; at < count; at += cols) {
      const row = read(0, start + at, cols)
      let max = row[0]!
      for (let i = 1; i < cols; i++) if (row[i]! > max) max = row[i]!
      let sum = 0
      for (let i = 0; i < cols; i++) sum += Math.exp(row[i]! - max)
      const shift = max + Math.log(sum)
      for (let i = 0; i < cols; i++) out[at + i] = row[i]! - shift
    }
    return out
  },
  // Rows of one column are exactly zero; elsewhere values are near -log(cols).
  tolerance: ({ cols }, dtype) => normalized(dtype, cols),
})
