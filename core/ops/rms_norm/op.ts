import { defineOp } from '../define'
import { matrix, withNames } from '../forms'
import { normalized } from '../tolerance'

/**
 * For every token of x [tokens, dim]: out = x / sqrt(mean of x² + eps) * weight, the mean taken within the token
 * (Zhang & Sennrich 2019). Inputs: x [tokens, dim], weight [dim].
 * PyTorch: torch.nn.functional.rms_norm(x, [dim], weight, eps). dims: [tokens, dim], scalars: [eps].
 * Four operations per element: square, add, scale, weight.
 */
export default defineOp<{ tokens: number; dim: number; eps: number }>({
  id: 'rms_norm',
  family: 'normalization',
  summary: 'Root mean square normalisation over the last axis',
  torch: 'F.rms_norm(x, [dim], weight, eps)',
  size: withNames(matrix, ['tokens', 'dim']),
  attributes: { eps: { title: 'Epsilon', kind: 'number', default: 1e-5, min: 0, max: 1 } },
  dtypes: ['f32', 'f16', 'bf16'],
  tensors: ({ tokens, dim }) => [
    { name: 'x', shape: [tokens, dim], role: 'in', fill: { kind: 'normal', scale: 1 } },
    { name: 'weight', shape: [dim], role: 'in', fill: { kind: 'normal', scale: 1 } },
    { name: 'out', shape: [tokens, dim], role: 'out' },
  ],
  dims: ({ tokens, dim }) => [tokens, dim],
  scalars: ({ eps }) => [eps],
  flops: ({ tokens, dim }) => 4 * tokens * dim,
  granule: ({ dim }) => dim,
  referenceCost: () => 5,
  reference: ({ dim, eps }, read, start, count) => {
    const weight = read(1, 0, dim)
    const out = new Float64Array(count)
    for (let at = 0; at < count; at += dim) {
      const x = read(0, start + at, dim)
      let squares = 0
      for (let i = 0; i < dim; i++) squares += x[i]! * x[i]!
      const scale = 1 / Math.sqrt(squares / dim + eps)
      for (let i = 0; i < dim; i++) out[at + i] = x[i]! * scale * weight[i]!
    }
    return out
  },
  tolerance: ({ dim }, dtype) => normalized(dtype, dim),
})
