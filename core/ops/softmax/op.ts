import { defineOp } from '../define'
import { matrix } from '../forms'
import { normalized } from '../tolerance'

/**
 * Over the last axis of x [rows, cols]: out = e^(x - max) / sum of e^(x - max), max and sum taken within the row.
 * PyTorch: torch.softmax(x, -1). dims: [rows, cols].
 * Five operations per element: compare, subtract, exponential, add, divide.
 */
export default defineOp<{ rows: number; cols: number }>({
  id: 'softmax',
  family: 'softmax',
  summary: 'Softmax over the last axis',
  representative: true,
  torch: 'torch.softmax(x, -1)',
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
      let max = -Infinity
      for (let i = 0; i < cols; i++) if (row[i]! > max) max = row[i]!
      let sum = 0
      for (let i = 0; i < cols; i++) {
        const e = Math.exp(row[i]! - max)
        out[at + i] = e
        sum += e
      }
      for (let i = 0; i < cols; i++) out[at + i]! /= sum
    }
    return out
  },
  // The largest element of a row is near e^3.5 times the mean of 1 / cols.
  tolerance: ({ cols }, dtype) => normalized(dtype, cols, Math.min(1, 20 / cols)),
})
