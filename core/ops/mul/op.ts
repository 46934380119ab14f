import { z } from 'zod'
import { DTYPE_BYTES } from '../../case'
import { formatCount } from '../../units'
import { extent } from '../params'
import { arithmetic } from '../tolerance'
import { defineOp } from '../types'

/** out[i] = a[i] * b[i]. PyTorch: torch.mul(a, b). dims: [n]. One multiplication per element. */
export default defineOp({
  id: 'mul',
  family: 'binary',
  summary: 'Element-wise product, torch.mul(a, b)',
  sizeKind: 'vector',
  params: z.object({ n: extent() }),
  dtypes: ['f32', 'f16', 'bf16'],
  shapeLabel: ({ n }) => formatCount(n),
  inputs: ({ n }) => [
    { name: 'a', shape: [n], fill: { kind: 'normal', scale: 1 } },
    { name: 'b', shape: [n], fill: { kind: 'normal', scale: 1 } },
  ],
  outputShape: ({ n }) => [n],
  dims: ({ n }) => [n],
  bytes: ({ n }, dtype) => 3 * n * DTYPE_BYTES[dtype],
  flops: ({ n }) => n,
  granule: () => 1,
  referenceCost: () => 1,
  reference: (_p, read, start, count) => {
    const a = read(0, start, count)
    const b = read(1, start, count)
    const out = new Float64Array(count)
    for (let i = 0; i < count; i++) out[i] = a[i]! * b[i]!
    return out
  },
  tolerance: (_p, dtype) => arithmetic(dtype),
})
