import type { Params } from '../../case'
import { isTensor, shapeAt, type AtenCall, type AtenTensor } from '../aten'
import { defineOp, divisorUpTo, accumulated, runsOfRows } from '../define'
import { gemm, vector, type SizeForm } from '../forms'
import type { InputValues, MatrixProduct, ReadInput } from '../types'

/**
 * out[b, i, j] = sum over l of A[b, i, l] * B[b, l, j]; row-major, accumulated in f32.
 * A is stored [batch, m, k], or [batch, k, m] with transA; B is stored [batch, k, n], or [batch, n, k] with transB.
 * dims: [batch, m, n, k, transA, transB] with the transposes as 0 or 1. 2·batch·m·n·k operations.
 */
export const matmul = defineOp<MatmulParams>({
  id: 'matmul',
  family: 'matmul',
  summary: 'Matrix product',
  representative: true,
  torch: 'torch.matmul(a, b)',
  aten: [{ names: ['mm', 'bmm'], params: (call) => productOf(call, 0) }, { names: ['addmm', 'baddbmm'], params: (call) => productOf(call, 1) }],
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

/** Whether a matrix is stored by columns: the view that a linear layer makes of its weight. */
const byColumns = ({ strides }: AtenTensor): boolean => strides !== null && strides.at(-2) === 1 && strides.at(-1) !== 1

/** The product of the matrices at two places among the arguments. */
function productOf({ args }: AtenCall, at: number): Params | undefined {
  const [a, b] = [args[at], args[at + 1]]
  if (!isTensor(a) || !isTensor(b) || a.shape.length < 2 || a.shape.length !== b.shape.length) return undefined
  const [m, k, n] = [a.shape.at(-2)!, a.shape.at(-1)!, b.shape.at(-1)!]
  const batch = a.shape.length === 3 ? a.shape[0]! : 1
  return { m, n, k, ...(batch > 1 ? { batch } : {}), ...(byColumns(a) ? { transA: true } : {}), ...(byColumns(b) ? { transB: true } : {}) }
}

/**
 * Inner product of two vectors: sum of a[i] * b[i]. PyTorch: torch.dot(a, b). Inputs: a [n], b [n]; output [1].
 * dims: [n]. Two operations per element; accumulated in f32.
 */
export const dot = defineOp<{ n: number }>({
  id: 'dot',
  family: 'vector',
  summary: 'Inner product of two vectors',
  torch: 'torch.dot(a, b)',
  aten: [{ names: ['dot'], params: (call) => { const shape = shapeAt(call, 0); return shape && { n: shape[0]! } } }],
  size: vector,
  dtypes: ['f32', 'f16', 'bf16'],
  tensors: ({ n }) => [
    { name: 'a', shape: [n], role: 'in', fill: { kind: 'normal', scale: 1 } },
    { name: 'b', shape: [n], role: 'in', fill: { kind: 'normal', scale: 1 } },
    { name: 'out', shape: [1], role: 'out' },
  ],
  dims: ({ n }) => [n],
  flops: ({ n }) => 2 * n,
  referenceCost: ({ n }) => 2 * n,
  reference: ({ n }, read) => {
    let sum = 0
    for (const [from, count] of runsOfRows(n)) {
      const a = read(0, from, count)
      const b = read(1, from, count)
      for (let i = 0; i < count; i++) sum += a[i]! * b[i]!
    }
    return Float64Array.of(sum)
  },
  tolerance: ({ n }, dtype) => accumulated(dtype, n),
  // Standard deviation of a sum of n products of unit normals.
  outputScale: ({ n }) => Math.sqrt(n),
})

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
export const scaledMatmul = defineOp<{ m: number; n: number; k: number }>({
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

export type MatmulParams = { m: number; n: number; k: number; batch: number; transA: boolean; transB: boolean }

/** Rows `row .. row + rows` and columns `column .. column + columns` of one batch's product. */
interface Block {
  batch: number
  row: number
  rows: number
  column: number
  columns: number
}

/** Rows of A as [rows, k], whichever way A is stored. */
function readA({ m, k, transA }: MatmulParams, read: ReadInput, { batch, row, rows }: Block): InputValues {
  const base = batch * m * k
  if (!transA) return read(0, base + row * k, rows * k)
  const a = new Float64Array(rows * k)
  for (let l = 0; l < k; l++) {
    const column = read(0, base + l * m + row, rows)
    for (let i = 0; i < rows; i++) a[i * k + l] = column[i]!
  }
  return a
}

/** The product as core/measure/verify/product.ts checks it. */
function asProduct(p: MatmulParams): MatrixProduct {
  const { m, n, k, batch, transB } = p
  return {
    batch, rows: m, inner: k, cols: n,
    left: (read, b, row, rows) => readA(p, read, { batch: b, row, rows, column: 0, columns: n }),
    right: (read, b, from, count) => {
      if (!transB) return read(1, b * k * n + from * n, count * n)
      const right = new Float32Array(count * n)
      for (let j = 0; j < n; j++) {
        const column = read(1, (b * n + j) * k + from, count)
        for (let l = 0; l < count; l++) right[l * n + j] = column[l]!
      }
      return right
    },
  }
}

/** The block [rows, columns]. Each needed element of A and B is read once, so B may be far larger than memory allows. */
function product(p: MatmulParams, read: ReadInput, block: Block): Float64Array {
  const { n, k, transB } = p
  const { batch, rows, column, columns } = block
  const a = readA(p, read, block)
  const base = batch * k * n
  const out = new Float64Array(rows * columns)
  if (transB) {
    for (let j = 0; j < columns; j++) {
      const b = read(1, base + (column + j) * k, k)
      let i = 0
      // Four rows at a time: their sums do not wait for each other.
      for (; i + 3 < rows; i += 4) {
        let [sum0, sum1, sum2, sum3] = [0, 0, 0, 0]
        for (let l = 0, at = i * k; l < k; l++, at++) {
          const y = b[l]!
          sum0 += a[at]! * y
          sum1 += a[at + k]! * y
          sum2 += a[at + 2 * k]! * y
          sum3 += a[at + 3 * k]! * y
        }
        out[i * columns + j] = sum0
        out[(i + 1) * columns + j] = sum1
        out[(i + 2) * columns + j] = sum2
        out[(i + 3) * columns + j] = sum3
      }
      for (; i < rows; i++) {
        let sum = 0
        for (let l = 0; l < k; l++) sum += a[i * k + l]! * b[l]!
        out[i * columns + j] = sum
      }
    }
    return out
  }
  const step = columns === n ? Math.max(1, Math.floor(B_ELEMENTS / n)) : 1
  for (let from = 0; from < k; from += step) {
    const count = Math.min(step, k - from)
    addProduct(out, a, { stride: k, from, rows }, read(1, base + from * n + column, count * columns), columns)
  }
  return out
}

/** Elements of B that are read at a time. */
const B_ELEMENTS = 1 << 18

/**
 * out [rows, columns] += the elements from .. of each row of `a`, whose rows are `stride` apart, times the rows of `b`
 * [count, columns], added in the order of these rows.
 */
export function addProduct(out: Float64Array, a: InputValues, { stride, from, rows }: { stride: number; from: number; rows: number }, b: InputValues, columns: number): void {
  const count = b.length / columns
  for (let i = 0; i < rows; i++) {
    const at = i * columns
    const x = i * stride + from
    let l = 0
    for (; l + 3 < count; l += 4) {
      const [x0, x1, x2, x3] = [a[x + l]!, a[x + l + 1]!, a[x + l + 2]!, a[x + l + 3]!]
      for (let j = 0, y = l * columns; j < columns; j++, y++) out[at + j] = out[at + j]! + x0 * b[y]! + x1 * b[y + columns]! + x2 * b[y + 2 * columns]! + x3 * b[y + 3 * columns]!
    }
    for (; l < count; l++) for (let j = 0, y = l * columns, factor = a[x + l]!; j < columns; j++, y++) out[at + j]! += factor * b[y]!
  }
}

/** Output elements `start .. start + count` of the flattened [batch, m, n] product, as at most three blocks per batch. */
function referenceRange(p: MatmulParams, read: ReadInput, start: number, count: number): Float64Array {
  const { m, n } = p
  const out = new Float64Array(count)
  for (let done = 0; done < count; ) {
    const at = start + done
    const batch = Math.floor(at / (m * n))
    const row = Math.floor(at / n) % m
    const column = at % n
    const left = count - done
    const whole = column === 0 ? Math.min(Math.floor(left / n), m - row) : 0
    const block = whole > 0 ? { batch, row, rows: whole, column: 0, columns: n } : { batch, row, rows: 1, column, columns: Math.min(left, n - column) }
    out.set(product(p, read, block), done)
    done += block.rows * block.columns
  }
  return out
}

export default [matmul, dot, scaledMatmul]
