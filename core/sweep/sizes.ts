import { SIZE_PARAMS, type Op, type SizeKind } from '../ops/types'
import type { Params } from '../case'
import { SizeError, SizeReader } from './size-reader'

/** One size: the extents of its kind in order (`[n]`, `[rows, cols]`, `[m, n, k]`). */
export type Size = readonly number[]

/** Sizes in the order written, each once; or what is wrong, where (index into the text) and how many characters it spans. */
export type SizesResult = { ok: true; sizes: Size[] } | { ok: false; message: string; position: number; length: number }

/** More sizes than this in one text is taken for a slip. */
export const MAX_SIZES = 5000

/**
 * Reads sizes as the user writes them.
 *
 *   list     items separated by commas or spaces                          100, 1K 10K
 *   number   digits, a decimal suffix K M G (1000^n) or a binary one      1K = 1000, 64Ki = 65536, 1.5M, 2^20
 *            Ki Mi Gi (1024^n), or a power
 *   range    doubling between powers of two; `xF` multiplies by F;        2^10..2^24, 2^10..2^24 x4, 100..1M x10,
 *            `step S` adds S; the end is included when it is met          1000..5000 step 1000
 *   shape    extents joined by x; braces hold a list for one extent;      4096x1024, {128,256}x{1024..4096}
 *            every combination is taken, the last extent fastest
 *   single   one extent alone is a vector's length, a square or a cube    512 -> 512x512 for a matrix, 512x512x512 for gemm
 *
 * After a range outside braces, a space before `x` and none after it means a factor (`1024..8192 x2`); otherwise `x` joins extents.
 */
export function parseSizes(kind: SizeKind, text: string): SizesResult {
  const arity = SIZE_PARAMS[kind].length
  const reader = new SizeReader(text)
  const sizes = new Map<string, Size>()
  try {
    for (reader.skipSeparators(); !reader.atEnd; reader.skipSeparators()) {
      const start = reader.position
      for (const size of item(reader, arity)) {
        sizes.set(size.join('x'), size)
        if (sizes.size > MAX_SIZES) throw new SizeError(`more than ${MAX_SIZES} sizes; use a larger step or factor`, start, reader.position - start)
      }
    }
  } catch (error) {
    if (!(error instanceof SizeError)) throw error
    return { ok: false, message: error.message, position: error.position, length: error.length }
  }
  return { ok: true, sizes: [...sizes.values()] }
}

const FORMS = { 1: 'a length such as 1Ki', 2: 'rows x columns such as 4096x1024, or one number for a square', 3: 'm x n x k such as 512x512x1024, or one number for a cube' } as const

/** One item of the list, as all sizes it stands for. */
function* item(reader: SizeReader, arity: number): Generator<Size> {
  const start = reader.position
  const extents = [reader.extent(arity > 1)]
  while (reader.takeJoin()) extents.push(reader.extent(arity > 1))
  const length = reader.position - start
  reader.expectEndOfItem()
  if (extents.length === 1) {
    for (const value of extents[0]!) yield new Array<number>(arity).fill(value)
    return
  }
  if (extents.length !== arity) throw new SizeError(`${extents.length} extents; expected ${FORMS[arity as 1 | 2 | 3]}`, start, length)
  const count = extents.reduce((product, values) => product * values.length, 1)
  if (count > MAX_SIZES) throw new SizeError(`${count} combinations; at most ${MAX_SIZES} sizes are taken`, start, length)
  for (let at = 0; at < count; at++) {
    let rest = at
    const size = new Array<number>(arity)
    for (let i = arity - 1; i >= 0; i--) {
      const values = extents[i]!
      size[i] = values[rest % values.length]!
      rest = Math.floor(rest / values.length)
    }
    yield size
  }
}

/** The parameters an op gets for a size of its kind. */
export function sizeParams(op: Op, size: Size): Params {
  const names = op.sizeParams ?? SIZE_PARAMS[op.sizeKind]
  return Object.fromEntries(names.map((name, i) => [name, size[i] ?? 1]))
}
