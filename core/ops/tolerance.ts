import { storageOf, type Dtype, type StorageType } from '../case'
import type { Tolerance } from './types'

/** Rounding of inputs and output alone: what a correct kernel with f32 accumulation stays under. */
const STORAGE: Readonly<Record<Exclude<Dtype, 'f32'>, number>> = { f16: 2e-3, bf16: 1e-2, tf32: 1e-3, i8: 1e-2, f8e4m3: 5e-2, unknown: 1e-6 }

/** Half the spacing at 1: the largest relative error of one rounding. */
export const ROUNDING: Readonly<Record<StorageType, number>> = { f32: 2 ** -24, f16: 2 ** -11, bf16: 2 ** -8, f8e4m3: 2 ** -4, i8: 0.5, i32: 0.5, u8: 0.5 }

const byDtype = (dtype: Dtype, f32: number): number => (dtype === 'f32' ? f32 : STORAGE[dtype])

/** For ops that copy bits, and for indices. */
export const exact: Tolerance = { relL2: 1e-12, element: { ulp: 0, abs: 0 } }

/** For one or two adds, multiplies or the like per element; `abs`: what rounding before a cancellation leaves. */
export const arithmetic = (dtype: Dtype, abs = 0): Tolerance => ({ relL2: byDtype(dtype, 1e-6), element: { ulp: dtype === 'f32' ? 4 : 1, abs } })

/** For exp, erf and the like per element; `abs`: what an approximation may be off where the result nears zero. */
export const transcendental = (dtype: Dtype, abs = 1e-6): Tolerance => ({ relL2: byDtype(dtype, 1e-6), element: { ulp: dtype === 'f32' ? 32 : 2, abs: dtype === 'f32' ? abs : Math.max(abs, ROUNDING[storageOf(dtype)] * 2 ** -6) } })

/**
 * For `length` terms of magnitude `term` added in f32: rounding grows with the square root of the length (Higham 2002,
 * section 4.2, random errors). An element may be off by eight times what the norm allows of its typical size.
 */
export function accumulated(dtype: Dtype, length: number, term = 1): Tolerance {
  const relL2 = byDtype(dtype, Math.max(1e-6, 1e-5 * Math.sqrt(length / 1024)))
  return { relL2, element: { ulp: 2, abs: 8 * (dtype === 'tf32' ? relL2 : Math.max(1e-6, 1e-5 * Math.sqrt(length / 1024))) * term * Math.sqrt(length) } }
}

/** For row-wise ops whose sums over `length` elements are normalised away again: the error of the sums, which grows as `accumulated`, stays. */
export function normalized(dtype: Dtype, length: number, magnitude = 1): Tolerance {
  const relL2 = byDtype(dtype, 1e-5 * Math.max(1, Math.sqrt(length / 2 ** 20)))
  return { relL2, element: { ulp: 4, abs: 8 * 1e-5 * Math.max(1, Math.sqrt(length / 2 ** 20)) * magnitude } }
}

/** For a chain of products, norms and residual sums: each of about a dozen steps rounds to the storage type once; `length`: the longest sum. */
export function blockTolerance(dtype: Dtype, length: number): Tolerance {
  const { relL2, element } = normalized(dtype, length, 4)
  return { relL2, element: { ulp: element.ulp, abs: Math.max(element.abs, 8 * ROUNDING[storageOf(dtype)] * 2) } }
}
