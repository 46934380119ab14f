import { z } from 'zod'

/**
 * Element types an operation can be asked for. `tf32` means f32 storage with tensor-core multiplication; `i8` and `f8e4m3`
 * (OCP E4M3: 4 exponent bits, 3 fraction bits, no infinity, largest value 448) are those of quantized operations.
 */
export const DTYPES = ['f32', 'f16', 'bf16', 'tf32', 'i8', 'f8e4m3'] as const
/** Results of other tools may not say what they computed with: `unknown` is read and shown, never measured. */
export const dtypeSchema = z.enum([...DTYPES, 'unknown'])
export type Dtype = z.infer<typeof dtypeSchema>

/** How an element lies in memory. Indices (`i32`) and masks (`u8`) have a type of their own whatever the case's dtype. */
export const STORAGE_TYPES = ['f32', 'f16', 'bf16', 'i8', 'f8e4m3', 'i32', 'u8'] as const
export type StorageType = (typeof STORAGE_TYPES)[number]

/** Bytes of one element of a storage type. */
export const STORAGE_BYTES: Readonly<Record<StorageType, number>> = { f32: 4, f16: 2, bf16: 2, i8: 1, f8e4m3: 1, i32: 4, u8: 1 }

/** How elements of a dtype are stored. */
export const storageOf = (dtype: Dtype): StorageType => (dtype === 'tf32' || dtype === 'unknown' ? 'f32' : dtype)

/** Bytes one element takes in memory; 0 where that is not known. */
export const DTYPE_BYTES: Readonly<Record<Dtype, number>> = { f32: 4, f16: 2, bf16: 2, tf32: 4, i8: 1, f8e4m3: 1, unknown: 0 }

/**
 * What surrounds one timed call. `cold`: caches flushed before every call, outside the timed window.
 * `hot`: calls back to back on the same buffers. `rotated`: calls back to back, each on another set of buffers, so many
 * sets that no cache can answer. `graph`: a CUDA graph of many calls, launch cost shared.
 */
export const MODES = ['cold', 'hot', 'rotated', 'graph'] as const
export const modeSchema = z.enum(MODES)
export type Mode = z.infer<typeof modeSchema>

/** Parameters of one case: extents as whole numbers, attributes as numbers, words (`axis: 'last'`) or flags. An extent or attribute at its constant default is left out. */
/** Sizes and attributes by name. */
export const paramsSchema = z.record(z.string().max(40), z.union([z.number(), z.string().max(40), z.boolean()]))
export type Params = z.infer<typeof paramsSchema>

/** One thing to measure. Two cases with the same identity string are the same case in any session or file. */
export const benchmarkCaseSchema = z.object({
  op: z.string().min(1).max(80),
  params: paramsSchema,
  dtype: dtypeSchema,
  backend: z.string().min(1).max(40),
  /** Implementation inside the backend: `avx2`, `wgsl`, `kernel`, ... */
  impl: z.string().min(1).max(40),
  /** Logical device id, stable across machines: `cpu`, `cuda:0`, `webgpu:0`; `gpubox/cuda:0` on another machine than the session's. Its name stands in the environment record. */
  device: z.string().min(1).max(80),
  mode: modeSchema,
  /** CPU threads; absent where the backend has no such choice. */
  threads: z.number().int().min(1).max(4096).optional(),
})
export type BenchmarkCase = z.infer<typeof benchmarkCaseSchema>

/** `axis=last,n=1024`: parameters by name, in one order whatever the order they were written in. */
export const paramText = (params: Params) =>
  Object.keys(params)
    .sort()
    .map((key) => `${key}=${String(params[key])}`)
    .join(',')

/** Stable identity: equal exactly when op, parameters, dtype, backend, implementation, device, mode and threads are. */
export function caseId(c: BenchmarkCase): string {
  const threads = c.threads === undefined ? '' : `|t${c.threads}`
  return `${c.op}|${paramText(c.params)}|${c.dtype}|${c.backend}|${c.impl}|${c.device}|${c.mode}${threads}`
}
