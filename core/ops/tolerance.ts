import type { Dtype } from '../case'
import type { Tolerance } from './types'

/** Rounding of inputs and output alone: what a correct kernel with f32 accumulation stays under. */
const STORAGE = { f16: 2e-3, bf16: 1e-2, tf32: 1e-3, unknown: 1e-6 } as const

/** For ops that copy bits. */
export const exact: Tolerance = { relL2: 1e-12, maxUlp: 0 }

/** For one add, multiply or the like per element. */
export const arithmetic = (dtype: Dtype): Tolerance => (dtype === 'f32' ? { relL2: 1e-6, maxUlp: 4 } : { relL2: STORAGE[dtype] })

/** For exp, erf and the like per element. */
export const transcendental = (dtype: Dtype): Tolerance => ({ relL2: dtype === 'f32' ? 1e-6 : STORAGE[dtype] })

/** For `length` terms added in f32: rounding grows with the square root of the length. */
export const accumulated = (dtype: Dtype, length: number): Tolerance => ({
  relL2: dtype === 'f32' ? Math.max(1e-6, 1e-5 * Math.sqrt(length / 1024)) : STORAGE[dtype],
})

/** For row-wise ops whose sums are normalised away again. */
export const normalized = (dtype: Dtype): Tolerance => ({ relL2: dtype === 'f32' ? 1e-5 : STORAGE[dtype] })
