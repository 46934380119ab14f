import type { InputValues, MatrixProduct, ReadInput } from '../types'

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
export function asProduct(p: MatmulParams): MatrixProduct {
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
export function referenceRange(p: MatmulParams, read: ReadInput, start: number, count: number): Float64Array {
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
