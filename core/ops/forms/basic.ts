import type { ExtentSpec, SizeForm } from './types'

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
