import { z } from 'zod'

/** The note on a result whose file has no median: the schema has no place for a mean alone, and a mean is no median. */
export const MEAN_AS_MEDIAN = 'The file states a mean and no median; the mean is shown as the median.'

/** Seconds of one call or all of them: more than 31 years is no measurement. */
export const secondsSchema = z.number().nonnegative().max(1e9)
/** A duration in ns below the same bound. */
export const nsSchema = z.number().nonnegative().max(1e18)

const DTYPE_NAMES: Readonly<Record<string, 'f32' | 'f16' | 'bf16'>> = { float32: 'f32', f32: 'f32', float16: 'f16', half: 'f16', f16: 'f16', bfloat16: 'bf16', bf16: 'bf16' }

/** The element type that a Python or Rust name means; `unknown` for any other. */
export const dtypeNamed = (name: unknown): 'f32' | 'f16' | 'bf16' | 'unknown' => (typeof name === 'string' && Object.hasOwn(DTYPE_NAMES, name) ? DTYPE_NAMES[name]! : 'unknown')
