import { defineOp } from '../define'
import { matrix, withNames } from '../forms'
import { normalized } from '../tolerance'

/**
 * For every token t of x [tokens, dim]: out = (x - mean) / sqrt(variance + eps) * weight + bias, with the mean and the
 * biased variance of that token (Ba, Kiros & Hinton 2016). Inputs: x [tokens, dim], weight [dim], bias [dim].
 * PyTorch: torch.nn.functional.layer_norm(x, [dim], weight, bias). dims: [tokens, dim], scalars: [eps].
 * Seven operations per element: add for the mean, subtract, square, add for the variance, scale, weight, bias.
 */
export default defineOp<{ tokens: number; dim: number; eps: number }>({
  id: 'layer_norm',
  family: 'normalization',
  summary: 'Layer normalisation over the last axis',
  representative: true,
  torch: 'F.layer_norm(x, [dim], weight, bias, eps)',
  size: withNames(matrix, ['tokens', 'dim']),
  attributes: { eps: { title: 'Epsilon', kind: 'number', default: 1e-5, min: 0, max: 1 } },
  dtypes: ['f32', 'f16', 'bf16'],
  tensors: ({ tokens, dim }) => [
    { name: 'x', shape: [tokens, dim], role: 'in', fill: { kind: 'normal', scale: 1 } },
    { name: 'weight', shape: [dim], role: 'in', fill: { kind: 'normal', scale: 1 } },
    { name: 'bias', shape: [dim], role: 'in', fill: { kind: 'normal', scale: 1 } },
    { name: 'out', shape: [tokens, dim], role: 'out' },
  ],
  dims: ({ tokens, dim }) => [tokens, dim],
  scalars: ({ eps }) => [eps],
  flops: ({ tokens, dim }) => 7 * tokens * dim,
  granule: ({ dim }) => dim,
  referenceCost: () => 6,
  reference: ({ dim, eps }, read, start, count) => {
    const weight = read(1, 0, dim)
    const bias = read(2, 0, dim)
    const out = new Float64Array(count)
    for (let at = 0; at < count; at += dim) {
      const x = read(0, start + at, dim)
      let sum = 0
      for (let i = 0; i < dim; i++) sum += x[i]!
      const mean = sum / dim
      let squares = 0
      for (let i = 0; i < dim; i++) squares += (x[i]! - mean) ** 2
      const scale = 1 / Math.sqrt(squares / dim + eps)
      for (let i = 0; i < dim; i++) out[at + i] = (x[i]! - mean) * scale * weight[i]! + bias[i]!
    }
    return out
  },
  tolerance: ({ dim }, dtype) => normalized(dtype, dim, 4),
})
