import { z } from 'zod'
import { DTYPE_BYTES } from '../../case'
import { formatCount } from '../../units'
import { defineOp } from '../types'

/** out[i] = a[i] + b[i]. dims: [n]. One add per element. */
export default defineOp({
  id: 'add',
  family: 'binary',
  summary: 'Element-wise sum, torch.add(a, b)',
  sizeKind: 'vector',
  params: z.object({ n: z.number().int().positive() }),
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
    return Float64Array.from(a, (x, i) => x + b[i]!)
  },
  tolerance: (_p, dtype) => (dtype === 'f32' ? { relL2: 1e-6, maxUlp: 4 } : { relL2: dtype === 'f16' ? 2e-3 : 1e-2 }),
})
