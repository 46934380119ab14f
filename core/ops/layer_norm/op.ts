import { z } from 'zod'
import { DTYPE_BYTES } from '../../case'
import { extent } from '../params'
import { normalized } from '../tolerance'
import { defineOp } from '../types'

/** Added to the variance, as PyTorch's default. */
const EPS = 1e-5

/**
 * For every token t of x [tokens, dim]: out = (x - mean) / sqrt(variance + 1e-5) * weight + bias, with the mean and the
 * biased variance of that token (Ba, Kiros & Hinton 2016). Inputs: x [tokens, dim], weight [dim], bias [dim].
 * PyTorch: torch.nn.functional.layer_norm(x, [dim], weight, bias). dims: [tokens, dim].
 * Seven operations per element: add for the mean, subtract, square, add for the variance, scale, weight, bias.
 */
export default defineOp({
  id: 'layer_norm',
  family: 'normalization',
  summary: 'Layer normalisation over the last axis, F.layer_norm(x, [dim], weight, bias)',
  sizeKind: 'matrix',
  sizeParams: ['tokens', 'dim'],
  params: z.object({ tokens: extent(), dim: extent() }),
  dtypes: ['f32', 'f16', 'bf16'],
  shapeLabel: ({ tokens, dim }) => `${tokens}x${dim}`,
  inputs: ({ tokens, dim }) => [
    { name: 'x', shape: [tokens, dim], fill: { kind: 'normal', scale: 1 } },
    { name: 'weight', shape: [dim], fill: { kind: 'normal', scale: 1 } },
    { name: 'bias', shape: [dim], fill: { kind: 'normal', scale: 1 } },
  ],
  outputShape: ({ tokens, dim }) => [tokens, dim],
  dims: ({ tokens, dim }) => [tokens, dim],
  bytes: ({ tokens, dim }, dtype) => (2 * tokens * dim + 2 * dim) * DTYPE_BYTES[dtype],
  flops: ({ tokens, dim }) => 7 * tokens * dim,
  granule: ({ dim }) => dim,
  referenceCost: () => 6,
  reference: ({ dim }, read, start, count) => {
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
      const scale = 1 / Math.sqrt(squares / dim + EPS)
      for (let i = 0; i < dim; i++) out[at + i] = (x[i]! - mean) * scale * weight[i]! + bias[i]!
    }
    return out
  },
  tolerance: (_p, dtype) => normalized(dtype),
})
