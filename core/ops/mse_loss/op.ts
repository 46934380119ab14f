import { defineOp } from '../define'
import { vector } from '../forms'
import { accumulated } from '../tolerance'

/** Elements read at a time, so that a long sum stays in the processor's cache. */
const CHUNK = 16384

/**
 * Mean squared error: mean of (x[i] - target[i])^2. PyTorch: F.mse_loss(x, target). Inputs: x [n], target [n]; output [1].
 * dims: [n]. Three operations per element; accumulated in f32.
 */
export default defineOp<{ n: number }>({
  id: 'mse_loss',
  family: 'loss',
  summary: 'Mean squared error',
  torch: 'F.mse_loss(x, target)',
  size: vector,
  dtypes: ['f32', 'f16', 'bf16'],
  tensors: ({ n }) => [
    { name: 'x', shape: [n], role: 'in', fill: { kind: 'normal', scale: 1 } },
    { name: 'target', shape: [n], role: 'in', fill: { kind: 'normal', scale: 1 } },
    { name: 'out', shape: [1], role: 'out' },
  ],
  dims: ({ n }) => [n],
  flops: ({ n }) => 3 * n,
  referenceCost: ({ n }) => 3 * n,
  reference: ({ n }, read) => {
    let sum = 0
    for (let from = 0; from < n; from += CHUNK) {
      const count = Math.min(CHUNK, n - from)
      const x = read(0, from, count)
      const target = read(1, from, count)
      for (let i = 0; i < count; i++) sum += (x[i]! - target[i]!) ** 2
    }
    return Float64Array.of(sum / n)
  },
  // The difference of two unit normals has variance 2: the sum is about 2n, its mean 2.
  tolerance: ({ n }, dtype) => accumulated(dtype, n, 2 / Math.sqrt(n)),
})
