/** A length: element-wise operations and whatever takes one vector. */
export const vector: SizeForm = {
  id: 'vector',
  title: 'Vectors (elements)',
  extents: [{ name: 'n', title: 'Elements' }],
  short: {},
  positional: 1,
  example: '1Ki',
  presets: {
    tour: '64Ki, 4Mi', simd: '100, 1K, 10K, 100K, 1M', small: '64Ki, 256Ki', medium: '4Mi', large: '16Mi', xlarge: '64Mi',
    classes: '64Ki, 256Ki, 4Mi, 16Mi, 64Mi', scaling: '2^10..2^26', batched: '2^18..2^28 x4', model: '1Mi, 4Mi, 16Mi',
  },
}

/** Rows of equal length: row operations, reductions along an axis, tables. */
export const matrix: SizeForm = {
  id: 'matrix',
  title: 'Matrices (rows × columns)',
  extents: [{ name: 'rows', title: 'Rows' }, { name: 'cols', title: 'Columns' }],
  short: {},
  positional: 2,
  example: '4096x1024',
  batchExtent: 'rows',
  presets: {
    tour: '256, 2048', simd: '10, 32x32, 100, 316, 1000', small: '256..1024', medium: '2048', large: '4096', xlarge: '8192',
    classes: '256..8192', scaling: '64..8192', batched: '{4096..262144}x{64..1024}', model: '4096x4096, 16384x4096, 4096x32768, 512x768, 8192x1024',
  },
}

/** Products of an m x k by a k x n matrix, one or a batch of them. */
export const gemm: SizeForm = {
  id: 'gemm',
  title: 'Matmul (M×N×K)',
  extents: [{ name: 'm', title: 'M' }, { name: 'n', title: 'N' }, { name: 'k', title: 'K' }, { name: 'batch', title: 'Batch', default: 1 }],
  short: { b: ['batch'] },
  positional: 3,
  example: '512x512x1024 batch=8',
  batchExtent: 'm',
  presets: {
    tour: '128, 512', simd: '16, 32, 64, 128, 256', small: '64..256', medium: '512..1024', large: '2048..4096', xlarge: '8192',
    classes: '64..8192', scaling: '32..4096', batched: '{4096..32768 x2}x{64..1024 x4}x{64..1024 x4}', model: '{1,16,128,4096}x4096x4096, 4096x{11008,14336}x4096, 2048x768x3072',
  },
}

/**
 * The form under the parameter names of an op: tokens and dim for rows and cols. Editors and presets stay those of the form.
 * `names` are those of its first extents; `more` extents follow.
 */
export function withNames(form: SizeForm, names: readonly string[], more: readonly ExtentSpec[] = []): SizeForm {
  const extents = form.extents.map((extent, i) => (names[i] === undefined ? extent : { ...extent, name: names[i], title: titleOf(names[i]) }))
  const batch = form.extents.findIndex(({ name }) => name === form.batchExtent)
  return { ...form, extents: [...extents, ...more], ...(batch < 0 ? {} : { batchExtent: extents[batch]!.name }) }
}

/** `headDim` -> `Head dim`. */
const titleOf = (name: string): string => (name.charAt(0).toUpperCase() + name.slice(1)).replace(/[A-Z]/g, (letter, at: number) => (at === 0 ? letter : ` ${letter.toLowerCase()}`))

/** One extent of a size: `m`, `rows`, `channels`. */
export interface ExtentSpec {
  /** The parameter it fills, and its long form when written (`kernelHeight=3`). */
  name: string
  /** `Rows`, for editors and tables. */
  title: string
  /** Smallest value; 1 where absent (padding may be 0). */
  min?: number
  /**
   * Value where it is not written. A number: left out of a case's identity when equal. A function of the extents known so
   * far: always written into the case. Absent: the extent must be written.
   */
  default?: number | ((known: Readonly<Record<string, number>>) => number)
}

/** How sizes of a group of ops are written: the editor, the command line, importers and charts read it from here. */
export interface SizeForm {
  /** `vector`, `matrix`, `gemm`, ...: the key of the text in a sweep. */
  id: string
  /** `Vectors (elements)`, for editors. */
  title: string
  extents: readonly ExtentSpec[]
  /** Short names and the extents each sets: `hw` -> [height, width]. An extent's own name always works. */
  short: Readonly<Record<string, readonly string[]>>
  /** How many of the first extents may be written joined by x (`4096x1024`); one number alone stands for all of them. 0: by name only. */
  positional: number
  /** A text that shows the form, for hints and messages. */
  example: string
  /** The extent that grows along the scaling chart, where there is one: rows, m, batch. */
  batchExtent?: string
  /** Texts of the size presets (core/sweep/defaults.ts): preset id -> sizes. */
  presets: Readonly<Record<string, string>>
}

/** Rows of a table that indices name: embedding, gather, scatter_add. */
export const table: SizeForm = {
  id: 'table',
  title: 'Tables (rows × dim × indices)',
  extents: [{ name: 'rows', title: 'Rows' }, { name: 'dim', title: 'Dim' }, { name: 'indices', title: 'Indices' }],
  short: {},
  positional: 3,
  example: '32000x4096x8192',
  batchExtent: 'indices',
  presets: {
    tour: '1000x64x512, 32000x256x4096', simd: '32, 100, 256', small: '1Kix256x1Ki', medium: '32000x512x4Ki', large: '50257x768x16Ki', xlarge: '128256x4096x16Ki',
    classes: '1Kix256x1Ki, 32000x512x4Ki, 50257x768x16Ki', scaling: '32000x512x{64..16384}', batched: '50257x768x{4096..65536}', model: '50257x768x8192, 32000x4096x4096, 128256x4096x8192',
  },
}

/** Vectors of headDim elements for each token and head: rotary embeddings. */
export const heads: SizeForm = {
  id: 'heads',
  title: 'Heads (tokens × heads × head dim)',
  extents: [{ name: 'tokens', title: 'Tokens' }, { name: 'heads', title: 'Heads' }, { name: 'headDim', title: 'Head dim' }],
  short: {},
  positional: 3,
  example: '2048x32x128',
  batchExtent: 'tokens',
  presets: {
    tour: '128x8x64, 2048x32x128', simd: '8, 32, 64', small: '256x16x64', medium: '1024x32x128', large: '4096x32x128', xlarge: '16384x32x128',
    classes: '256x16x64, 1024x32x128, 4096x32x128, 16384x32x128', scaling: '{16..16384}x32x128', batched: '{4096..65536}x16x64', model: '2048x32x128, 8192x8x128, 4096x64x128',
  },
}
