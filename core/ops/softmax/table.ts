import { overRows } from '../aten'
import { logSumExp, rowOp, normal } from '../rows'
import { normalized } from '../define'

/**
 * Over the last axis of x [rows, cols]: out = e^(x - max) / sum of e^(x - max), max and sum taken within the row.
 * PyTorch: torch.softmax(x, -1). dims: [rows, cols].
 * Five operations per element: compare, subtract, exponential, add, divide.
 */
export const softmax = rowOp({
  id: 'softmax',
  family: 'softmax',
  summary: 'Softmax over the last axis',
  representative: true,
  torch: 'torch.softmax(x, -1)',
  aten: [overRows(['_softmax'])],
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

/**
 * Over the last axis of x [rows, cols]: out = x - max - log(sum of e^(x - max)), max and sum taken within the row.
 * PyTorch: torch.log_softmax(x, -1). dims: [rows, cols].
 * Five operations per element: compare, subtract, exponential, add, subtract.
 */
export const logSoftmax = rowOp({
  id: 'log_softmax',
  family: 'softmax',
  summary: 'Logarithm of softmax over the last axis',
  torch: 'torch.log_softmax(x, -1)',
  aten: [overRows(['_log_softmax'])],
  unit: 'special',
  flops: 5,
  cost: 8,
  row: (out, [x]) => {
    const shift = logSumExp(x!)
    for (let i = 0; i < out.length; i++) out[i] = x![i]! - shift
  },
  // Rows of one column are exactly zero; elsewhere values are near -log(cols).
  tolerance: normalized,
})

/** Size of a probability among `cols`, as a power of two; no smaller than f16 holds with all its digits. */
const probability = (cols: number): number => 2 ** -Math.min(12, Math.ceil(Math.log2(cols)))

/**
 * Gradient of softmax over the last axis from its output: dx = out * (grad - sum of grad * out within the row), for
 * grad and out [rows, cols]. PyTorch: torch._softmax_backward_data(grad, out, -1, grad.dtype). dims: [rows, cols].
 * `out` is filled with positive numbers of the size of probabilities; its rows need not add up to one.
 * Four operations per element: multiply, add, subtract, multiply.
 */
export const softmaxBackward = rowOp({
  id: 'softmax_backward',
  family: 'backward',
  summary: 'Gradient of softmax over the last axis',
  torch: 'torch._softmax_backward_data(grad, out, -1, grad.dtype)',
  aten: [overRows(['_softmax_backward_data'], 0, 2)],
  inputs: { grad: normal, out: (cols) => ({ kind: 'positive', scale: probability(cols) }) },
  output: 'dx',
  flops: 4,
  cost: 6,
  row: (dx, [grad, out]) => {
    let dot = 0
    for (let i = 0; i < dx.length; i++) dot += grad![i]! * out![i]!
    for (let i = 0; i < dx.length; i++) dx[i] = out![i]! * (grad![i]! - dot)
  },
  tolerance: (dtype, cols) => normalized(dtype, cols, probability(cols)),
})

export default [softmax, logSoftmax, softmaxBackward]
