import { rowOp } from '../rows'
import { normalized } from '../tolerance'

/**
 * Over the last axis of x [rows, cols]: out = x - max - log(sum of e^(x - max)), max and sum taken within the row.
 * PyTorch: torch.log_softmax(x, -1). dims: [rows, cols].
 * Five operations per element: compare, subtract, exponential, add, subtract.
 */
export default rowOp({
  id: 'log_softmax',
  family: 'softmax',
  summary: 'Logarithm of softmax over the last axis',
  torch: 'torch.log_softmax(x, -1)',
  unit: 'special',
  flops: 5,
  cost: 8,
  row: (out, [x]) => {
    let max = -Infinity
    for (let i = 0; i < out.length; i++) if (x![i]! > max) max = x![i]!
    let sum = 0
    for (let i = 0; i < out.length; i++) sum += Math.exp(x![i]! - max)
    const shift = max + Math.log(sum)
    for (let i = 0; i < out.length; i++) out[i] = x![i]! - shift
  },
  // Rows of one column are exactly zero; elsewhere values are near -log(cols).
  tolerance: normalized,
})
