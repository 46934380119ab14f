import { normal, rowOp } from '../rows'
import { normalized } from '../tolerance'

/** Size of a probability among `cols`, as a power of two; no smaller than f16 holds with all its digits. */
const probability = (cols: number): number => 2 ** -Math.min(12, Math.ceil(Math.log2(cols)))

/**
 * Gradient of softmax over the last axis from its output: dx = out * (grad - sum of grad * out within the row), for
 * grad and out [rows, cols]. PyTorch: torch._softmax_backward_data(grad, out, -1, grad.dtype). dims: [rows, cols].
 * `out` is filled with positive numbers of the size of probabilities; its rows need not add up to one.
 * Four operations per element: multiply, add, subtract, multiply.
 */
export default rowOp({
  id: 'softmax_backward',
  family: 'backward',
  summary: 'Gradient of softmax over the last axis',
  torch: 'torch._softmax_backward_data(grad, out, -1, grad.dtype)',
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
