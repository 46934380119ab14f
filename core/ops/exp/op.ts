import { z } from 'zod'
import { DTYPE_BYTES } from '../../case'
import { formatCount } from '../../units'
import { extent } from '../params'
import { transcendental } from '../tolerance'
import { defineOp } from '../types'

/** out[i] = e^x[i]. PyTorch: torch.exp(x). dims: [n]. One transcendental per element; |x| stays below 3.5. */
export default defineOp({
  id: 'exp',
  family: 'unary',
  summary: 'Element-wise exponential, torch.exp(x)',
  sizeKind: 'vector',
  params: z.object({ n: extent() }),
  dtypes: ['f32', 'f16', 'bf16'],
  shapeLabel: ({ n }) => formatCount(n),
  inputs: ({ n }) => [{ name: 'x', shape: [n], fill: { kind: 'normal', scale: 1 } }],
  outputShape: ({ n }) => [n],
  dims: ({ n }) => [n],
  bytes: ({ n }, dtype) => 2 * n * DTYPE_BYTES[dtype],
  flops: ({ n }) => n,
  granule: () => 1,
  referenceCost: () => 4,
  reference: (_p, read, start, count) => {
    const x = read(0, start, count)
    const out = new Float64Array(count)
    for (let i = 0; i < count; i++) out[i] = Math.exp(x[i]!)
    return out
  },
  tolerance: (_p, dtype) => transcendental(dtype),
})
