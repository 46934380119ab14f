import { z } from 'zod'
import { DTYPE_BYTES } from '../../case'
import { erfc } from '../../math/erf'
import { formatCount } from '../../units'
import { extent } from '../params'
import { transcendental } from '../tolerance'
import { defineOp } from '../types'

/**
 * out[i] = x/2 * (1 + erf(x / sqrt 2)): x times the normal distribution function (Hendrycks & Gimpel 2016, exact form).
 * PyTorch: torch.nn.functional.gelu(x). dims: [n]. Five operations per element: scale, erf, add, halve, multiply.
 */
export default defineOp({
  id: 'gelu',
  family: 'activation',
  summary: 'Gaussian error linear unit with erf, F.gelu(x)',
  sizeKind: 'vector',
  params: z.object({ n: extent() }),
  dtypes: ['f32', 'f16', 'bf16'],
  shapeLabel: ({ n }) => formatCount(n),
  inputs: ({ n }) => [{ name: 'x', shape: [n], fill: { kind: 'normal', scale: 1 } }],
  outputShape: ({ n }) => [n],
  dims: ({ n }) => [n],
  bytes: ({ n }, dtype) => 2 * n * DTYPE_BYTES[dtype],
  flops: ({ n }) => 5 * n,
  granule: () => 1,
  referenceCost: () => 12,
  reference: (_p, read, start, count) => {
    const x = read(0, start, count)
    const out = new Float64Array(count)
    // erfc(-z) = 1 + erf(z) without the cancellation that 1 + erf has for large negative x.
    for (let i = 0; i < count; i++) out[i] = 0.5 * x[i]! * erfc(-x[i]! * Math.SQRT1_2)
    return out
  },
  tolerance: (_p, dtype) => transcendental(dtype),
})
