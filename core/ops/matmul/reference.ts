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
      for (let i = 0; i < rows; i++) {
        let sum = 0
        for (let l = 0; l < k; l++) sum += a[i * k + l]! * b[l]!
        out[i * columns + j] = sum
      }
    }
    return out
  }
  for (let l = 0; l < k; l++) {
    const b = read(1, base + l * n + column, columns)
    for (let i = 0; i < rows; i++) {
      const x = a[i * k + l]!
      const at = i * columns
      for (let j = 0; j < columns; j++) out[at + j]! += x * b[j]!
    }
  }
  return out
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
