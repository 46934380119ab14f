import { defineOp } from '../define'
import { vector } from '../forms'
import { accumulated } from '../tolerance'

/** Elements read at a time, so that a long product stays in the processor's cache. */
const CHUNK = 16384

/**
 * Inner product of two vectors: sum of a[i] * b[i]. PyTorch: torch.dot(a, b). Inputs: a [n], b [n]; output [1].
 * dims: [n]. Two operations per element; accumulated in f32.
 */
export default defineOp<{ n: number }>({
  id: 'dot',
  family: 'vector',
  summary: 'Inner product of two vectors',
  torch: 'torch.dot(a, b)',
  size: vector,
  dtypes: ['f32', 'f16', 'bf16'],
  tensors: ({ n }) => [
    { name: 'a', shape: [n], role: 'in', fill: { kind: 'normal', scale: 1 } },
    { name: 'b', shape: [n], role: 'in', fill: { kind: 'normal', scale: 1 } },
    { name: 'out', shape: [1], role: 'out' },
  ],
  dims: ({ n }) => [n],
  flops: ({ n }) => 2 * n,
  referenceCost: ({ n }) => 2 * n,
  reference: ({ n }, read) => {
    let sum = 0
    for (let from = 0; from < n; from += CHUNK) {
      const count = Math.min(CHUNK, n - from)
      const a = read(0, from, count)
      const b = read(1, from, count)
      for (let i = 0; i < count; i++) sum += a[i]! * b[i]!
    }
    return Float64Array.of(sum)
  },
  tolerance: ({ n }, dtype) => accumulated(dtype, n),
  // Standard deviation of a sum of n products of unit normals.
  outputScale: ({ n }) => Math.sqrt(n),
})
