import { z } from 'zod'
import { DTYPE_BYTES } from '../../case'
import { divisorUpTo, extent } from '../params'
import { accumulated } from '../tolerance'
import { defineOp } from '../types'
import { referenceRange, type MatmulParams } from './reference'

/**
 * out[b, i, j] = sum over l of A[b, i, l] * B[b, l, j]; row-major, accumulated in f32. PyTorch: torch.matmul(a, b).
 * A is stored [batch, m, k], or [batch, k, m] with transA; B is stored [batch, k, n], or [batch, n, k] with transB.
 * dims: [batch, m, n, k, transA, transB] with the transposes as 0 or 1. 2·batch·m·n·k operations.
 * batch, transA and transB may be left out of a case (1, false, false); a sweep leaves them out.
 */
export default defineOp<MatmulParams>({
  id: 'matmul',
  family: 'matmul',
  summary: 'Matrix product, torch.matmul(a, b)',
  sizeKind: 'gemm',
  params: z.object({ m: extent(), n: extent(), k: extent(), batch: extent().default(1), transA: z.boolean().default(false), transB: z.boolean().default(false) }),
  dtypes: ['f32', 'f16', 'bf16', 'tf32'],
  shapeLabel: ({ m, n, k, batch, transA, transB }) => {
    const layout = transA || transB ? ` ${transA ? 'T' : 'N'}${transB ? 'T' : 'N'}` : ''
    return `${batch > 1 ? `${batch}x` : ''}${m}x${n}x${k}${layout}`
  },
  inputs: ({ m, n, k, batch, transA, transB }) => [
    { name: 'a', shape: transA ? [batch, k, m] : [batch, m, k], fill: { kind: 'normal', scale: 1 } },
    { name: 'b', shape: transB ? [batch, n, k] : [batch, k, n], fill: { kind: 'normal', scale: 1 } },
  ],
  outputShape: ({ m, n, batch }) => [batch, m, n],
  dims: ({ m, n, k, batch, transA, transB }) => [batch, m, n, k, Number(transA), Number(transB)],
  bytes: ({ m, n, k, batch }, dtype) => batch * (m * k + k * n + m * n) * DTYPE_BYTES[dtype],
  flops: ({ m, n, k, batch }) => 2 * batch * m * n * k,
  // Neighbouring columns share their reads of A; 16 of them keep a sampled check spread out and cheap.
  granule: ({ n }) => divisorUpTo(n, 16),
  referenceCost: ({ k }) => k,
  reference: referenceRange,
  tolerance: ({ k }, dtype) => accumulated(dtype, k),
  // Standard deviation of a sum of k products of unit normals.
  outputScale: ({ k }) => Math.sqrt(k),
})
