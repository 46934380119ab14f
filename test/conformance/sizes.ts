import { spawnSync } from 'node:child_process'
import type { Params } from '@core/case'
import { attributeChoices, exampleParams } from '@core/ops/testing'
import type { Op } from '@core/ops/types'
import { mix32 } from '@core/values/random'

/** `npm run conformance` checks every size, variant and thread count; `npm test` a few that are drawn. */
export const WHOLE = process.env['OPSCOPE_CONFORMANCE'] === 'all'

/** A seed that every committed state of the sources has of its own: what was tested is what is tested of it elsewhere. */
function committedSeed(): number | undefined {
  const { status, stdout } = spawnSync('git', ['rev-parse', 'HEAD^{tree}'], { encoding: 'utf8' })
  return status === 0 ? Number.parseInt(stdout.slice(0, 8), 16) : undefined
}

/** Seed of everything that is drawn: OPSCOPE_CONFORMANCE_SEED, else the commit's, random without git. Printed by the tests. */
export const DRAW_SEED = Number(process.env['OPSCOPE_CONFORMANCE_SEED'] ?? committedSeed() ?? Math.floor(Math.random() * 2 ** 32))
if (!Number.isInteger(DRAW_SEED) || DRAW_SEED < 0 || DRAW_SEED >= 2 ** 32) throw new Error(`OPSCOPE_CONFORMANCE_SEED: expected a whole number from 0 to ${2 ** 32 - 1}, received ${process.env['OPSCOPE_CONFORMANCE_SEED']}`)

/** Random numbers that depend on the seed and on `words` alone, whatever other tests run. */
export class Draw {
  #state = DRAW_SEED

  constructor(words: string) {
    for (const letter of words) this.#state = mix32((this.#state ^ letter.codePointAt(0)!) >>> 0)
  }

  /** 0 .. below - 1. */
  below(below: number): number {
    this.#state = mix32((this.#state + 0x9e3779b9) >>> 0)
    return Math.floor((this.#state / 2 ** 32) * below)
  }

  /** 1 .. most, small numbers as likely as large ones. */
  length(most: number): number {
    return Math.floor(Math.exp((this.below(2 ** 20) / 2 ** 20) * Math.log(most + 1)))
  }

  /** One of a list, which must not be empty. */
  one<T>(list: readonly T[]): T {
    return list[this.below(list.length)]!
  }
}

/** Extents of other forms that are drawn up to more than a dozen: kernels that work in tiles take others for few queries or filters. */
const LONGER: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  attention: { seqQ: 150, headDim: 80 },
  block: { dim: 80 },
  conv1d: { filters: 70, length: 90 },
  conv2d: { filters: 70, height: 25 },
  conv3d: { filters: 70 },
  gemm: { k: 2500 },
}

/** The norms inside a block multiply the rounding of its residual by 1 / deviation, which has no bound in a row of two elements. */
const SHORTEST: Readonly<Record<string, Readonly<Record<string, number>>>> = { block: { dim: 16 } }

/** Extents of an op, drawn: elements of one tensor stay near 2^18 at most. */
function extentsOf(op: Op, draw: Draw): Params {
  if (op.size.id === 'vector') return { n: draw.length(300_000) }
  if (op.size.id === 'matrix') {
    const first = draw.length(40_000)
    const second = draw.length(Math.ceil(2 ** 18 / first))
    const [rows, cols] = draw.below(2) === 0 ? [first, second] : [second, first]
    return { rows, cols, tokens: rows, dim: cols }
  }
  const most = op.size.id === 'gemm' ? 200 : 12
  return Object.fromEntries(op.size.extents.filter(({ default: usual }) => usual === undefined).map(({ name }) => [name, Math.max(SHORTEST[op.size.id]?.[name] ?? 1, draw.length(LONGER[op.size.id]?.[name] ?? most))]))
}

/** Parameters of an odd shape with one variant of the op; none where ten drawn ones are refused. */
export function oddParams(op: Op, draw: Draw): Params | undefined {
  for (let attempt = 0; attempt < 10; attempt++) {
    const parsed = op.params.safeParse({ iterations: 37, ns: 37, ...draw.one(attributeChoices(op)), ...extentsOf(op, draw) })
    if (parsed.success) return parsed.data
  }
  return undefined
}

/** Sizes that find mistakes at edges: one element, less than a vector, odd lengths, primes, more than the caches hold. */
const VECTORS = [1, 3, 16, 127, 1000, 12345, 65537, 999_999, 4_200_003]
// Odd, and products of numbers near their square root, so that broadcasts have rows and columns.
const LARGE_VECTORS = [8_999_999]
const FEW_VECTORS = [1, 127, 65537]

const MATRICES: readonly [rows: number, cols: number][] = [
  [1, 1], [1, 3], [3, 1], [7, 127], [127, 7], [1000, 1000], [13, 1001], [257, 64], [2, 12345], [1, 200_003], [200_003, 1], [40_009, 3], [64, 1023], [70_001, 8],
]
/** The second has rows in whole cache lines, the first has not. */
const LARGE_MATRICES: readonly [rows: number, cols: number][] = [[1201, 5003], [1537, 4096], [18_783, 333], [3, 2_100_011], [1_050_001, 2]]

const FEW_MATRICES: readonly [rows: number, cols: number][] = [[1, 3], [7, 127], [257, 64], [2, 12345], [40_009, 3]]

type Product = { m: number; n: number; k: number; batch?: number; transA?: boolean; transB?: boolean }
const PRODUCTS: readonly Product[] = [
  { m: 1, n: 1, k: 1 }, { m: 3, n: 5, k: 7 }, { m: 16, n: 16, k: 16 }, { m: 127, n: 127, k: 127 }, { m: 128, n: 128, k: 128 },
  { m: 129, n: 257, k: 301 }, { m: 1, n: 1000, k: 513 }, { m: 1000, n: 1, k: 259 }, { m: 31, n: 1009, k: 64 }, { m: 509, n: 33, k: 1 },
  { m: 45, n: 37, k: 300, transA: true }, { m: 45, n: 37, k: 300, transB: true }, { m: 45, n: 37, k: 300, transA: true, transB: true },
  { m: 33, n: 65, k: 29, batch: 3 }, { m: 20, n: 30, k: 260, batch: 7, transB: true }, { m: 100, n: 50, k: 40, batch: 2, transA: true },
  // Enough of them that a kernel with several tile sizes takes its large one, though none fills it.
  { m: 65, n: 67, k: 19, batch: 128 },
  // Long sums for few outputs, which kernels share out.
  { m: 40, n: 21, k: 2000 }, { m: 17, n: 70, k: 1301, batch: 2, transA: true, transB: true },
  // Few rows, with few columns or few terms.
  { m: 41, n: 9, k: 101, transA: true, transB: true }, { m: 3, n: 33, k: 301, transA: true }, { m: 8, n: 47, k: 65, batch: 3 }, { m: 19, n: 1023, k: 6 }, { m: 7, n: 515, k: 5, batch: 2, transA: true },
  // The same whose right operand is read as it lies: odd terms, rows a page apart, more terms than are met at once.
  { m: 3, n: 131, k: 131 }, { m: 14, n: 512, k: 97 }, { m: 33, n: 77, k: 1501 },
  // More rows of the left one a page apart, which meet two panels at once, and one; rows of the right one within lines.
  { m: 29, n: 240, k: 1024 }, { m: 35, n: 205, k: 131 },
  // One row, times rows of more columns than are added up at once.
  { m: 1, n: 4197, k: 21 },
  // Few steps and more outputs than a thread each takes; blocks of outputs that share a workgroup.
  { m: 1031, n: 1025, k: 4, transA: true }, { m: 4250, n: 8, k: 65, transB: true },
  // Rows of both operands that are added up, of whole vectors and not; odd rows of a few dozen steps.
  { m: 16, n: 12, k: 2101, transA: true }, { m: 17, n: 30, k: 705, batch: 2, transA: true }, { m: 137, n: 301, k: 33, transA: true, transB: true },
  // Sums too long for the caches, of rows of both operands; few rows, of a right operand that is turned first, and of long rows.
  { m: 19, n: 33, k: 7001, transB: true }, { m: 9, n: 53, k: 233, batch: 3, transA: true, transB: true }, { m: 11, n: 2061, k: 7 },
  // Few terms and columns of many rows; few rows of a matrix that is read in order; one term; few terms of a right operand that is turned.
  { m: 271, n: 61, k: 16, batch: 3 }, { m: 261, n: 9, k: 30, transB: true }, { m: 3, n: 301, k: 50, batch: 2 }, { m: 8, n: 1301, k: 21, transA: true }, { m: 1, n: 501, k: 1, batch: 5, transB: true }, { m: 501, n: 1, k: 1, batch: 5 }, { m: 39, n: 203, k: 13, transA: true, transB: true },
  // f16: some terms of few rows widened at a time, with many columns, and both operands stored transposed. f32: rows of few terms put in columns whole.
  { m: 5, n: 122, k: 301, transA: true }, { m: 3, n: 2, k: 129, transA: true, transB: true }, { m: 121, n: 7, k: 300, batch: 2, transA: true, transB: true }, { m: 61, n: 131, k: 7, transB: true }, { m: 23, n: 97, k: 3, batch: 2, transA: true, transB: true },
  // Dot products of a few hundred terms and more: rows of the left operand that are turned, fewer than eight, columns that are turned; long rows times a vector. Few rows about a page long.
  { m: 5, n: 41, k: 7001, transA: true, transB: true }, { m: 6, n: 71, k: 121, transB: true }, { m: 150, n: 21, k: 1025 }, { m: 6, n: 1, k: 9001 }, { m: 9, n: 2049, k: 7, transA: true },
]
const LARGE_PRODUCTS: readonly Product[] = [{ m: 300, n: 4211, k: 300 }, { m: 1024, n: 1024, k: 1024 }]

const FEW_PRODUCTS: readonly Product[] = [{ m: 1, n: 1, k: 1 }, { m: 128, n: 128, k: 128 }, { m: 129, n: 257, k: 301 }, { m: 45, n: 37, k: 300, transA: true, transB: true }, { m: 33, n: 65, k: 29, batch: 3 }]

/** Enough queries of a head, and rows that start on 16 bytes, for kernels that take whole tiles. */
const ATTENTIONS: readonly Params[] = [{ batch: 1, heads: 2, kvHeads: 1, seqQ: 65, seqK: 130, headDim: 16 }, { batch: 1, heads: 128, kvHeads: 64, seqQ: 65, seqK: 515, headDim: 128 }]

/** Broadcasts whose rows have one element, a few or all of them. */
const NARROW: readonly Params[] = [{ n: 1001, cols: 1 }, { n: 999, cols: 3 }, { n: 1001, cols: 1001 }].flatMap((size) => ['row', 'column'].map((broadcast) => ({ ...size, broadcast })))
/** The same beyond the caches, where rows that do not start with a cache line are written in another way. */
const LARGE_BROADCASTS: readonly Params[] = [{ n: 8_999_997, cols: 3, broadcast: 'row' }, { n: 8_999_997, cols: 3, broadcast: 'column' }, { n: 9_010_001, cols: 9001, broadcast: 'row' }, ...['row', 'column'].map((broadcast) => ({ n: 9_002_637, cols: 763, broadcast }))]
/** Many planes of a few elements, which kernels work on together. */
const SHORT_PLANES: readonly Params[] = [
  { batch: 31, channels: 7, length: 9, height: 5, width: 3, kernel: 7, stride: 7, outHeight: 4, outWidth: 2 },
  { batch: 31, channels: 7, length: 13, height: 4, width: 8, kernel: 3, stride: 2, padding: 1, outHeight: 2, outWidth: 5 },
  { batch: 31, channels: 7, length: 10, height: 5, width: 6, kernel: 4, stride: 1, outHeight: 1, outWidth: 3 },
  // Of more elements, with windows further apart than two.
  { batch: 13, channels: 5, length: 131, height: 14, width: 13, kernel: 5, stride: 3, padding: 1, outHeight: 5, outWidth: 6 },
  // Rows that such windows fill, shorter than the way to the next one and longer.
  { batch: 2, channels: 3, length: 401, height: 9, width: 403, kernel: 2, stride: 8, outHeight: 3, outWidth: 50 },
  { batch: 2, channels: 3, length: 203, height: 13, width: 170, kernel: 11, stride: 5, padding: 5, outHeight: 2, outWidth: 41 },
]

/** Views of some features of tokens, with gaps between them, and of heads whose tokens lie apart. */
const VIEWS = ([
  { batch: 3, heads: 2, seq: 7, headDim: 6, views: 2, offset: 5, tokenStride: 31 }, { batch: 2, heads: 4, seq: 9, headDim: 16, views: 3, offset: 8, tokenStride: 208, distance: 66 },
  { batch: 2, heads: 7, seq: 3, headDim: 8, tokenStride: 56, headStride: 8, batchStride: 168 }, { batch: 1, heads: 1, seq: 1, headDim: 4099, offset: 3, tokenStride: 4102 },
] as const).flatMap((size): Params[] => [false, true].map((bias) => ({ ...size, bias, elements: size.batch * size.seq * size.tokenStride })))

/** Kernels that meet nothing but padding in part, and some far larger than what they meet: no padded copy of the input is made for them. */
const WIDE_KERNELS: readonly Params[] = [
  { channels: 3, filters: 5, height: 5, width: 6, kernelHeight: 3, kernelWidth: 3, paddingHeight: 1200, paddingWidth: 1200, dilation: 1200 },
  { channels: 1, filters: 5, height: 2103, width: 2104, kernelHeight: 2, kernelWidth: 2, dilation: 2100 },
  { batch: 40, channels: 60, filters: 65, height: 3, width: 1, kernelHeight: 7, kernelWidth: 7, paddingHeight: 3, paddingWidth: 3 },
]

/** Rows of outputs that share padding, that fill vectors unevenly, and so short that a vector meets several. */
const PADDED_ROWS: readonly Params[] = [
  { batch: 2, channels: 5, filters: 129, height: 28, width: 28, kernelHeight: 3, kernelWidth: 3, paddingHeight: 1, paddingWidth: 1 },
  { batch: 5, channels: 33, filters: 70, height: 7, width: 7, kernelHeight: 3, kernelWidth: 3, paddingHeight: 1, paddingWidth: 1 },
  { channels: 3, filters: 65, height: 20, width: 33, kernelHeight: 5, kernelWidth: 5, paddingHeight: 3, paddingWidth: 4 },
  { channels: 1, filters: 44, height: 31, width: 9, kernelHeight: 7, kernelWidth: 7, paddingHeight: 3, paddingWidth: 3 },
  { batch: 7, channels: 512, filters: 128, height: 3, width: 3, kernelHeight: 3, kernelWidth: 3, paddingHeight: 1, paddingWidth: 1 },
]

/** Narrow planes, whose rows of outputs lie across the output; planes that leave vectors empty; a second row that no output meets; small ones of many images, filters of an odd channel, and rows that are copied for each element of a row of the kernel. */
const NARROW_PLANES: readonly Params[] = [
  { batch: 2, channels: 5, filters: 11, height: 301, width: 7, kernelHeight: 3, kernelWidth: 3, stride: 2 },
  { batch: 3, channels: 3, filters: 5, height: 131, width: 15, kernelHeight: 3, kernelWidth: 3, stride: 2, paddingHeight: 1, paddingWidth: 1 },
  { channels: 17, filters: 33, height: 203, width: 3, kernelHeight: 2, kernelWidth: 2, dilation: 2 },
  { batch: 5, channels: 33, filters: 29, height: 1, width: 17 },
  { batch: 3, channels: 101, filters: 6, height: 9, width: 17, kernelHeight: 1, kernelWidth: 1 },
  { batch: 3, channels: 71, filters: 37, height: 2, width: 33, kernelHeight: 2, kernelWidth: 2, stride: 2, paddingHeight: 1, paddingWidth: 1 },
  { channels: 12, filters: 12, groups: 12, height: 2, width: 9, kernelHeight: 1, kernelWidth: 3, stride: 2 },
  { batch: 2, channels: 131, filters: 5, height: 2, width: 5, kernelHeight: 3, kernelWidth: 3, stride: 2, paddingHeight: 1, paddingWidth: 1 },
  { batch: 2, channels: 262, filters: 18, groups: 2, height: 2, width: 3, kernelHeight: 1, kernelWidth: 1, stride: 2 },
  { batch: 35, channels: 7, filters: 30, height: 3, width: 5, kernelHeight: 7, kernelWidth: 7, paddingHeight: 3, paddingWidth: 3 },
  { batch: 2, channels: 5, filters: 14, height: 301, width: 3, kernelHeight: 2, kernelWidth: 2 },
  { batch: 2, channels: 3, filters: 10, height: 203, width: 9, kernelHeight: 3, kernelWidth: 3, stride: 2, paddingHeight: 1, paddingWidth: 1 },
  { batch: 3, channels: 4, filters: 70, groups: 2, height: 45, width: 7, kernelHeight: 3, kernelWidth: 3, dilation: 2, paddingWidth: 1 },
  { batch: 4, channels: 2, filters: 22, height: 33, width: 9, kernelHeight: 3, kernelWidth: 3, paddingHeight: 1, paddingWidth: 1 },
]

/** Windows with a stride of two for many filters: vectors that meet one row of outputs and up to four, more channels than are packed together, terms in several slabs, dilation, groups and padding. */
const EVEN_WINDOWS: readonly Params[] = [
  { batch: 2, channels: 19, filters: 23, height: 31, width: 13, kernelHeight: 3, kernelWidth: 3, stride: 2, paddingHeight: 1, paddingWidth: 1 },
  { channels: 67, filters: 65, height: 23, width: 45, kernelHeight: 3, kernelWidth: 3, stride: 2, dilation: 2, paddingHeight: 2, paddingWidth: 3 },
  { channels: 3, filters: 70, height: 30, width: 71, kernelHeight: 7, kernelWidth: 7, stride: 2, paddingHeight: 3, paddingWidth: 3 },
  { batch: 3, channels: 37, filters: 13, height: 19, width: 66, kernelHeight: 2, kernelWidth: 2, stride: 2 },
  { channels: 40, filters: 26, groups: 2, height: 17, width: 37, kernelHeight: 3, kernelWidth: 3, stride: 2, paddingWidth: 1 },
  { channels: 5, filters: 131, height: 9, width: 19, kernelHeight: 1, kernelWidth: 16, stride: 2, paddingWidth: 9 },
]
const EVEN_SIGNALS: readonly Params[] = [{ channels: 300, filters: 9, length: 203, kernel: 4, stride: 2, dilation: 3, padding: 5 }]
/** Rows that are copied for each element of a row of the kernel, and axes that are sliced as each of their outputs has many others. */
const NARROW_VOLUMES: readonly Params[] = [
  { batch: 2, channels: 5, filters: 13, depth: 9, height: 35, width: 7, kernel: 3, padding: 1 },
  { channels: 3, filters: 20, depth: 4, height: 23, width: 35, kernel: 3, padding: 1 },
]
/** Planes of an odd number of vectors, of fewer images than make columns. */
const SHORT_SIGNALS: readonly Params[] = [{ batch: 5, channels: 37, filters: 31, length: 35, kernel: 5, padding: 2 }, { batch: 2, channels: 20, filters: 40, length: 19, kernel: 3 }]
const EVEN_VOLUMES: readonly Params[] = [{ channels: 6, filters: 70, depth: 7, height: 9, width: 21, kernel: 3, stride: 2, padding: 1 }]

/** Groups of one channel: rows of one vector and of several, shifted by padding and dilation, every second element, and several filters of a channel. */
const SINGLE_CHANNELS: readonly Params[] = [
  { batch: 2, channels: 67, filters: 67, groups: 67, length: 17, kernel: 3, dilation: 2 },
  { batch: 3, channels: 19, filters: 57, groups: 19, length: 9, kernel: 5, padding: 4, stride: 2 },
  { batch: 2, channels: 13, filters: 13, groups: 13, length: 117, kernel: 5, padding: 3, dilation: 3 },
  { batch: 2, channels: 11, filters: 22, groups: 11, length: 66, kernel: 2, padding: 1, stride: 2 },
  { batch: 5, channels: 7, filters: 7, groups: 7, length: 2, kernel: 3, padding: 2 },
  { batch: 9, channels: 21, filters: 21, groups: 21, length: 5, kernel: 3, padding: 1, stride: 2 },
  { batch: 6, channels: 9, filters: 27, groups: 9, length: 5, kernel: 5, padding: 2 },
]

/** Planes of groups of one channel: of several channels in a vector, of several vectors, with rows of outputs as long as those of the input and others, a stride, dilation and several filters of a channel. */
const SINGLE_PLANES: readonly Params[] = [
  { batch: 7, channels: 13, filters: 13, groups: 13, height: 2, width: 3, kernelHeight: 3, kernelWidth: 3, paddingHeight: 1, paddingWidth: 1 },
  { batch: 2, channels: 19, filters: 38, groups: 19, height: 2, width: 4, kernelHeight: 3, kernelWidth: 2, paddingHeight: 1, paddingWidth: 1 },
  { batch: 3, channels: 17, filters: 17, groups: 17, height: 7, width: 9, kernelHeight: 3, kernelWidth: 3, paddingHeight: 1, paddingWidth: 1 },
  { batch: 5, channels: 11, filters: 11, groups: 11, height: 9, width: 7, kernelHeight: 3, kernelWidth: 3, paddingHeight: 1, stride: 2 },
  { batch: 2, channels: 15, filters: 30, groups: 15, height: 13, width: 25, kernelHeight: 5, kernelWidth: 3, paddingWidth: 2, dilation: 2 },
]
const SINGLE_VOLUMES: readonly Params[] = [
  { batch: 2, channels: 31, filters: 31, groups: 31, depth: 3, height: 4, width: 5, kernel: 3, padding: 1 },
  { batch: 3, channels: 21, filters: 21, groups: 21, depth: 2, height: 2, width: 3, kernel: 2, stride: 2, padding: 1 },
]

/** Many channels to few filters: planes that lie, those of several images next to one another, in several passes, a stride, and elements of the kernel that meet nothing. */
const FEW_OF_MANY: readonly Params[] = [
  { channels: 701, filters: 3, height: 7, width: 9, kernelHeight: 3, kernelWidth: 3, paddingHeight: 1, paddingWidth: 1 },
  { batch: 3, channels: 260, filters: 2, height: 9, width: 11, kernelHeight: 3, kernelWidth: 3, stride: 2, paddingHeight: 1, paddingWidth: 1 },
  { batch: 5, channels: 150, filters: 1, height: 5, width: 17, kernelHeight: 2, kernelWidth: 3, paddingHeight: 1, paddingWidth: 1 },
  { channels: 130, filters: 1, height: 1, width: 601, kernelHeight: 3, kernelWidth: 3, paddingHeight: 1, paddingWidth: 1 },
]
const FEW_OF_MANY_SIGNALS: readonly Params[] = [{ channels: 730, filters: 4, length: 301, kernel: 3, padding: 2, dilation: 2 }]
const FEW_OF_MANY_VOLUMES: readonly Params[] = [{ batch: 2, channels: 257, filters: 2, depth: 3, height: 5, width: 9, kernel: 3, stride: 2, padding: 1 }]

/** Many channels of small planes, which kernels work on some channels at a time. */
const MANY_CHANNELS: readonly Params[] = [
  { batch: 35, channels: 2401, filters: 3, length: 7, kernel: 3, stride: 2, padding: 1 },
  { batch: 9, channels: 1002, filters: 6, groups: 2, length: 9, kernel: 2, padding: 1 },
  { batch: 2, channels: 402, filters: 4, groups: 2, length: 5, kernel: 5, padding: 2 },
  { channels: 700, filters: 5, length: 7, kernel: 1, stride: 2 },
  { batch: 19, channels: 33, filters: 5, length: 9, kernel: 1 },
]

/** Small planes of several images, of whose kernels much meets padding: filters that end within vectors, images in two tiles, channels in slabs, groups, strides and dilations. */
const PADDED_SIGNALS: readonly Params[] = [
  { batch: 9, channels: 300, filters: 21, length: 3, kernel: 5, padding: 2 },
  { batch: 5, channels: 202, filters: 66, groups: 2, length: 5, kernel: 3, stride: 2, padding: 2, dilation: 2 },
]
const PADDED_PLANES: readonly Params[] = [
  { batch: 11, channels: 70, filters: 129, height: 17, width: 2, kernelHeight: 2, kernelWidth: 2, paddingHeight: 1, paddingWidth: 1 },
  { batch: 17, channels: 33, filters: 49, height: 7, width: 5, kernelHeight: 5, kernelWidth: 3, stride: 2, paddingHeight: 4, paddingWidth: 2, dilation: 2 },
  { batch: 19, channels: 37, filters: 35, height: 5, width: 3, kernelHeight: 1, kernelWidth: 1 },
]
const PADDED_VOLUMES: readonly Params[] = [
  { batch: 7, channels: 16, filters: 32, depth: 2, height: 3, width: 5, kernel: 5, padding: 2 },
  { batch: 3, channels: 5, filters: 8, depth: 4, height: 5, width: 3, kernel: 7, padding: 3 },
]
/** Few outputs of many groups, which threads copy a group at a time. */
const FEW_OUTPUTS_OF_GROUPS: readonly Params[] = [{ batch: 3, channels: 320, filters: 24, groups: 8, length: 3, kernel: 1, stride: 2, dilation: 2 }]

/** Few filters a group, which kernels meet with the input as it lies: rows that end within, at and behind four vectors, with padding on both sides. */
const FEW_FILTERS: readonly Params[] = [
  { batch: 2, channels: 33, filters: 3, length: 64, kernel: 3, padding: 1 },
  { batch: 2, channels: 5, filters: 4, length: 131, kernel: 5, padding: 4, dilation: 2 },
  { batch: 3, channels: 6, filters: 6, groups: 3, length: 277, kernel: 3, stride: 2, padding: 2 },
  { batch: 2, channels: 51, filters: 51, groups: 51, length: 401, kernel: 1, stride: 2 },
  { batch: 2, channels: 4, filters: 8, groups: 4, length: 260, kernel: 12, padding: 11, stride: 2 },
  { batch: 1, channels: 700, filters: 1, length: 31, kernel: 5, stride: 2, padding: 2 },
]

/**
 * all: what each implementation is checked with. large: beyond the caches. few: a second engine running the same
 * kernels, where every pipeline takes seconds to compile.
 */
export type Extent = 'all' | 'large' | 'few'

/** Number of multiply-adds per element where an op asks for them (the ceilings). */
const ITERATIONS = 100

const vectors: Record<Extent, readonly number[]> = { all: VECTORS, large: LARGE_VECTORS, few: FEW_VECTORS }
const matrices: Record<Extent, readonly [rows: number, cols: number][]> = { all: MATRICES, large: LARGE_MATRICES, few: FEW_MATRICES }
const attentions: Record<Extent, readonly Params[]> = { all: ATTENTIONS, large: [], few: ATTENTIONS }
const products: Record<Extent, readonly Product[]> = { all: PRODUCTS, large: LARGE_PRODUCTS, few: FEW_PRODUCTS }

/** Sizes of the op's form; its schema drops what it does not know. */
function sizesOf(op: Op, extent: Extent): Params[] {
  if (op.size.id === 'vector') return vectors[extent].map((n) => ({ n, iterations: ITERATIONS }))
  if (op.size.id === 'matrix') return matrices[extent].map((size) => Object.fromEntries(size.map((value, i) => [op.size.extents[i]!.name, value])))
  if (op.size.id === 'attention') return [...attentions[extent]]
  if (op.size.id !== 'gemm') return []
  return products[extent].map((size) => ({ ...size, iterations: ITERATIONS }))
}

/** Probes have one size and differ in length. */
const probes = (op: Op): Params[] => [1, 37, 1000].map((length) => op.params.parse({ iterations: length, ns: length }))

/** Choices that a size does not make itself: products name their transposes. */
const choicesOf = (op: Op, size: Params): Params[] => (op.size.id === 'gemm' ? [size] : attributeChoices(op))

/** The parameters, or none where the op refuses them (more of a row than it has). */
function fitting(op: Op, params: Params): Params[] {
  const parsed = op.params.safeParse(params)
  return parsed.success ? [parsed.data] : []
}

/** Peak rates are arithmetic only: size adds nothing there. */
const isPeak = (op: Op): boolean => op.family === 'ceiling' && op.size.extents.some(({ name }) => name === 'iterations')

/** Parameters to check an op with: every size with every choice. */
export const conformanceParams = (op: Op, extent: Extent): Params[] =>
  op.family === 'probe' ? (extent === 'large' ? [] : probes(op)) :
  [
    ...(extent === 'large' && isPeak(op) ? [] : sizesOf(op, extent)).flatMap((size) => choicesOf(op, size).flatMap((choice) => fitting(op, { ...choice, ...size }))),
    // Every other form, and the whole-number attributes (a batch, the columns of a broadcast) away from their defaults.
    ...(extent === 'large' || isPeak(op) ? [] : exampleParams(op).map((params) => op.params.parse(params))),
    ...(extent === 'large' && op.id === 'add' ? LARGE_BROADCASTS.flatMap((params) => fitting(op, params)) : []),
    ...(extent === 'all' ? (op.family === 'pooling' ? SHORT_PLANES : op.size.id === 'view' ? VIEWS : op.id === 'conv2d' ? [...WIDE_KERNELS, ...PADDED_ROWS, ...NARROW_PLANES, ...EVEN_WINDOWS, ...SINGLE_PLANES, ...FEW_OF_MANY, ...PADDED_PLANES] : op.id === 'conv1d' ? [...SINGLE_CHANNELS, ...MANY_CHANNELS, ...FEW_FILTERS, ...EVEN_SIGNALS, ...SHORT_SIGNALS, ...FEW_OF_MANY_SIGNALS, ...PADDED_SIGNALS, ...FEW_OUTPUTS_OF_GROUPS] : op.id === 'conv3d' ? [...NARROW_VOLUMES, ...EVEN_VOLUMES, ...SINGLE_VOLUMES, ...FEW_OF_MANY_VOLUMES, ...PADDED_VOLUMES] : 'broadcast' in op.attributes ? NARROW : []).flatMap((params) => fitting(op, params)) : []),
  ]
