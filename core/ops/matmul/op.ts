import { defineOp, divisorUpTo } from '../define'
import { gemm } from '../forms'
import { accumulated } from '../tolerance'
import { asProduct, referenceRange, type MatmulParams } from './reference'

/**
 * out[b, i, j] = sum over l of A[b, i, l] * B[b, l, j]; row-major, accumulated in f32.
 * A is stored [batch, m, k], or [batch, k, m] with transA; B is stored [batch, k, n], or [batch, n, k] with transB.
 * dims: [batch, m, n, k, transA, transB] with the transposes as 0 or 1. 2·batch·m·n·k operations.
 */
export default defineOp<MatmulParams>({
  id: 'matmul',
  family: 'matmul',
  summary: 'Matrix product',
  representative: true,
  torch: 'torch.matmul(a, b)',
  size: gemm,
  attributes: { transA: { title: 'A transposed', kind: 'flag', default: false }, transB: { title: 'B transposed', kind: 'flag', default: false } },
  dtypes: ['f32', 'f16', 'bf16', 'tf32'],
  tensors: ({ m, n, k, batch, transA, transB }) => [
    { name: 'a', shape: transA ? [batch, k, m] : [batch, m, k], role: 'in', fill: { kind: 'normal', scale: 1 } },
    { name: 'b', shape: transB ? [batch, n, k] : [batch, k, n], role: 'in', fill: { kind: 'normal', scale: 1 } },
    { name: 'out', shape: [batch, m, n], role: 'out' },
  ],
  dims: ({ m, n, k, batch, transA, transB }) => [batch, m, n, k, Number(transA), Number(transB)],
  flops: ({ m, n, k, batch }) => 2 * batch * m * n * k,
  shapeLabel: ({ m, n, k, batch, transA, transB }) => {
    const layout = transA || transB ? ` ${transA ? 'T' : 'N'}${transB ? 'T' : 'N'}` : ''
    return `${batch > 1 ? `${batch}x` : ''}${m}x${n}x${k}${layout}`
  },
  unit: (dtype) => (dtype === 'f32' ? 'vector' : 'matrix'),
  // Neighbouring columns share their reads of A; 16 of them keep a sampled check spread out and cheap.
  granule: ({ n }) => divisorUpTo(n, 16),
  referenceCost: ({ k }) => k,
  // A few outputs alone have their columns of B generated for them.
  referenceCostAlone: ({ k }) => 2 * k,
  reference: referenceRange,
  product: asProduct,
  tolerance: ({ k }, dtype) => accumulated(dtype, k),
  // Standard deviation of a sum of k products of unit normals.
  outputScale: ({ k }) => Math.sqrt(k),
})
