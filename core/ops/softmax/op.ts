import { z } from 'zod'
import { DTYPE_BYTES } from '../../case'
import { extent } from '../params'
import { normalized } from '../tolerance'
import { defineOp } from '../types'

/**
 * Over the last axis of x [rows, cols]: out = e^(x - max) / sum of e^(x - max), max and sum taken within the row.
 * PyTorch: torch.softmax(x, -1). dims: [rows, cols].
 * Five operations per element: compare, subtract, exponential, add, divide.
 */
export default defineOp({
  id: 'softmax',
  family: 'softmax',
  summary: 'Softmax over the last axis, torch.softmax(x, -1)',
  sizeKind: 'matrix',
  params: z.object({ rows: extent(), cols: extent() }),
  dtypes: ['f32', 'f16', 'bf16'],
  shapeLabel: ({ rows, cols }) => `${rows}x${cols}`,
  inputs: ({ rows, cols }) => [{ name: 'x', shape: [rows, cols], fill: { kind: 'normal', scale: 1 } }],
  outputShape: ({ rows, cols }) => [rows, cols],
  dims: ({ rows, cols }) => [rows, cols],
  bytes: ({ rows, cols }, dtype) => 2 * rows * cols * DTYPE_BYTES[dtype],
  flops: ({ rows, cols }) => 5 * rows * cols,
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
  tolerance: (_p, dtype) => normalized(dtype),
})
