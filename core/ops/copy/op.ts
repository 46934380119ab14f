import { z } from 'zod'
import { DTYPE_BYTES } from '../../case'
import { formatCount } from '../../units'
import { extent } from '../params'
import { exact } from '../tolerance'
import { defineOp } from '../types'

/**
 * out[i] = x[i], bit for bit. PyTorch: x.clone(). dims: [n].
 * No arithmetic: its bandwidth at sizes beyond the caches is the device's measured bandwidth ceiling.
 */
export default defineOp({
  id: 'copy',
  family: 'memory',
  summary: 'Copy of a tensor, x.clone()',
  sizeKind: 'vector',
  params: z.object({ n: extent() }),
  dtypes: ['f32', 'f16', 'bf16'],
  shapeLabel: ({ n }) => formatCount(n),
  inputs: ({ n }) => [{ name: 'x', shape: [n], fill: { kind: 'normal', scale: 1 } }],
  outputShape: ({ n }) => [n],
  dims: ({ n }) => [n],
  bytes: ({ n }, dtype) => 2 * n * DTYPE_BYTES[dtype],
  flops: () => 0,
  granule: () => 1,
  referenceCost: () => 1,
  reference: (_p, read, start, count) => Float64Array.from(read(0, start, count)),
  tolerance: () => exact,
})
