import { defineOp } from '../define'
import { matrix } from '../forms'
import { normalized } from '../tolerance'

/** Size of a probability among `cols`, as a power of two; no smaller than f16 holds with all its digits. */
const probability = (cols: number): number => 2 ** -Math.min(12, Math.ceil(Math.log2(cols)))

/**
 * Gradient of softmax over the last axis from its output: dx = out * (grad - sum of grad * out within the row), for
 * grad and out [rows, cols]. PyTorch: torch._softmax_backward_data(grad, out, -1, grad.dtype). dims: [rows, cols].
 * `out` is filled with positive numbers of the size of probabilities; its rows need not add up to one.
 * Four operations per element: multiply, add, subtract, multiply.
 */
export default defineOp<{ rows: number; cols: number }>({
  id: 'softmax_backward',
  family: 'backward',
  summary: 'Gradient of softmax over the last axis',
  torch: 'torch._softmax_backward_data(grad, out, -1, grad.dtype)',
  size: matrix,
  dtypes: ['f32', 'f16', 'bf16'],
  tensors: ({ rows, cols }) => [
    { name: 'grad', shape: [rows, cols], role: 'in', fill: { kind: 'normal', scale: 1 } },
    { name: 'out', shape: [rows, cols], role: 'in', fill: { kind: 'positive', scale: probability(cols) } },
    { name: 'dx', shape: [rows, cols], role: 'out' },
  ],
  dims: ({ rows, cols }) => [rows, cols],
  flops: ({ rows, cols }) => 4 * rows * cols,
  granule: ({ cols }) => cols,
  referenceCost: () => 6,
  reference: ({ cols }, read, start, count) => {
    const dx = new Float64Array(count)
    for (let at = 0; at < count; at += cols) {
      const grad = read(0, start + at, cols)
      const out = read(1, start + at, cols)
      let dot = 0
      for (let i = 0; i < cols; i++) dot += grad[i]! * out[i]!
      for (let i = 0; i < cols; i++) dx[at + i] = out[i]! * (grad[i]! - dot)
    }
    return dx
  },
  tolerance: ({ cols }, dtype) => normalized(dtype, cols, probability(cols)),
})
