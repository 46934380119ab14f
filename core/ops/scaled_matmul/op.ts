import { defineOp, divisorUpTo } from '../define'
import { gemm, type SizeForm } from '../forms'
import { asProduct, referenceRange } from '../matmul/reference'
import type { InputValues } from '../types'

/** Quantized products come one by one. */
const single: SizeForm = { ...gemm, extents: gemm.extents.slice(0, 3), short: {}, example: '512x512x1024' }

/** From here on sums of products of -127 .. 127 could leave i32. */
const MAX_K = Math.floor((2 ** 31 - 1) / 127 ** 2)

/** The product without its scales. */
const plain = ({ m, n, k }: { m: number; n: number; k: number }) => ({ m, n, k, batch: 1, transA: false, transB: true })

const scaled = (values: InputValues, scales: InputValues, of: (at: number) => number): Float64Array => Float64Array.from(values, (value, at) => value * scales[of(at)]!)

/**
 * out[i, j] = scaleA[i] * scaleB[j] * sum over l of a[i, l] * b[j, l], rounded once to bf16, the only output that PyTorch's scaled product
 * has for scales per row. a [m, k] and b [n, k] (the layout of weights, and the only one of fp8 tensor cores) are int8, or
 * fp8 e4m3; scaleA [m] and scaleB [n] are f32. int8 is summed exactly in i32, fp8 in f32.
 * PyTorch: torch._scaled_mm(a, b.t(), scaleA[:, None], scaleB[None, :], out_dtype=torch.bfloat16); for int8
 * (torch._int_mm(a, b.t()) * scaleA[:, None] * scaleB).bfloat16(). dims: [m, n, k]. 2·m·n·k operations.
 */
export default defineOp<{ m: number; n: number; k: number }>({
  id: 'scaled_matmul',
  family: 'quantized',
  summary: 'Product of int8 or fp8 matrices with scales per row and column',
  torch: 'torch._scaled_mm(a, b.t(), scaleA[:, None], scaleB[None, :], out_dtype=torch.bfloat16)',
  size: single,
  refuse: ({ k }) => (k <= MAX_K ? undefined : `k (${k}) must not exceed ${MAX_K}: sums of int8 products would leave i32`),
  dtypes: ['i8', 'f8e4m3'],
  tensors: ({ m, n, k }, dtype) => {
    const fill = dtype === 'i8' ? { kind: 'integers' as const, below: 255, low: -127 } : { kind: 'normal' as const, scale: 1 }
    // Whole numbers, so that no row or column is so small that errors in it go unseen.
    const scale = { storage: 'f32', role: 'in', fill: { kind: 'integers', below: 4, low: 1 } } as const
    return [
      { name: 'a', shape: [m, k], role: 'in', fill },
      { name: 'b', shape: [n, k], role: 'in', fill },
      { name: 'scaleA', shape: [m], ...scale },
      { name: 'scaleB', shape: [n], ...scale },
      { name: 'out', shape: [m, n], storage: 'bf16', role: 'out' },
    ]
  },
  dims: ({ m, n, k }) => [m, n, k],
  flops: ({ m, n, k }) => 2 * m * n * k,
  unit: () => 'matrix',
  granule: ({ n }) => divisorUpTo(n, 16),
  referenceCost: ({ k }) => k,
  // A few outputs alone have their rows of b generated for them.
  referenceCostAlone: ({ k }) => 2 * k,
  reference: (p, read, start, count) => {
    const out = referenceRange(plain(p), read, start, count)
    const firstRow = Math.floor(start / p.n)
    const scaleA = read(2, firstRow, Math.floor((start + count - 1) / p.n) - firstRow + 1)
    const scaleB = read(3, 0, p.n)
    for (let i = 0; i < count; i++) out[i]! *= scaleA[Math.floor((start + i) / p.n) - firstRow]! * scaleB[(start + i) % p.n]!
    return out
  },
  product: (p) => {
    const product = asProduct(plain(p))
    return {
      ...product,
      left: (read, batch, row, rows) => scaled(product.left(read, batch, row, rows), read(2, row, rows), (at) => Math.floor(at / p.k)),
      right: (read, batch, from, count) => scaled(product.right(read, batch, from, count), read(3, 0, p.n), (at) => at % p.n),
    }
  },
  // int8: one rounding to bf16 of an exact sum. fp8: tensor cores keep about 14 bits of a running sum of terms near 6 (with scales).
  tolerance: ({ k }, dtype) => (dtype === 'i8' ? { relL2: 4e-3, element: { ulp: 1, abs: 0 } } : { relL2: 1e-2, element: { ulp: 2, abs: 8 * 1e-3 * 16 * Math.sqrt(k) } }),
})
