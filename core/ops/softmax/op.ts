import { rowOp } from '../rows'
import { normalized } from '../tolerance'

/**
 * Over the last axis of x [rows, cols]: out = e^(x - max) / sum of e^(x - max), max and sum taken within the row.
 * PyTorch: torch.softmax(x, -1). dims: [rows, cols].
 * Five operations per element: compare, subtract, exponential, add, divide.
 */
export default rowOp({
  id: 'softmax',
  family: 'softmax',
  summary: 'Softmax over the last axis',
  representative: true,
  torch: 'torch.softmax(x, -1)',
  unit: 'special',
  flops: 5,
  cost: 8,
  row: (out, [x]) => {
    let max = -Infinity
    for (let i = 0; i < out.length; i++) if (x![i]! > max) max = x![i]!
    let sum = 0
    for (let i = 0; i < out.length; i++) sum += out[i] = Math.exp(x![i]! - max)
    for (let i = 0; i < out.length; i++) out[i]! /= sum
  },
  // The largest element of a row is near e^3.5 times the mean of 1 / cols.
  tolerance: (dtype, cols) => normalized(dtype, cols, Math.min(1, 20 / cols)),
})
