import type { Dtype } from './case'
import { roundToDtype } from './numbers'

/**
 * Benchmark inputs, the same bit for bit in TypeScript, C++, CUDA, WGSL and NumPy.
 *
 * Element `i` of a tensor depends on (seed, stream, i) alone, so any part can be made anywhere without the rest.
 * The bell shape is the sum of four uniform 16-bit lanes (Irwin-Hall, n = 4; support ±3.46 standard deviations),
 * because that needs integers only; one f32 multiplication makes the value and one rounding takes it to the dtype.
 *
 *   key0 = mix(seed + stream * 0x9E3779B9)      key1 = mix(key0 ^ 0x85EBCA6B)          (all in uint32, wrapping)
 *   a = mix(i + key0)    b = mix(a ^ key1)
 *   k = (a & 0xFFFF) + (a >>> 16) + (b & 0xFFFF) + (b >>> 16) - 131070                  (exact in f32)
 *   normal:   value = f32(k) * f32(scale * UNIT)            positive: value = f32(|k| + 1) * f32(scale * UNIT)
 *
 * `mix` is lowbias32 (C. Wellons, "Prospecting for Hash Functions", public domain).
 */
export interface FillSpec {
  kind: 'normal' | 'positive'
  /** Standard deviation of `normal`; must be exactly representable in f32. */
  scale: number
}

/** 1 / standard deviation of the sum of four uniform lanes on 0..65535: sqrt(4 * (65536^2 - 1) / 12). */
export const UNIT = Math.fround(1 / Math.sqrt((65536 * 65536 - 1) / 3))

/** lowbias32, a bijection on uint32. */
export function mix32(x: number): number {
  x = Math.imul(x ^ (x >>> 16), 0x7feb352d)
  x = Math.imul(x ^ (x >>> 15), 0x846ca68b)
  return (x ^ (x >>> 16)) >>> 0
}

/** The two keys of a tensor; `stream` is the index of the input among the inputs of its op. */
export function streamKeys(seed: number, stream: number): { key0: number; key1: number } {
  const key0 = mix32((seed + Math.imul(stream, 0x9e3779b9)) >>> 0)
  return { key0, key1: mix32((key0 ^ 0x85ebca6b) >>> 0) }
}

/** The f32 factor that every backend multiplies the integer by. */
export const fillFactor = (fill: FillSpec): number => Math.fround(Math.fround(fill.scale) * UNIT)

/** Elements `start .. start + count` of a tensor, rounded to `dtype` and held as f32 (exact for every dtype). */
export function fillRange(seed: number, stream: number, fill: FillSpec, dtype: Dtype, start: number, count: number): Float32Array {
  const { key0, key1 } = streamKeys(seed, stream)
  const factor = fillFactor(fill)
  const positive = fill.kind === 'positive'
  const out = new Float32Array(count)
  for (let j = 0; j < count; j++) {
    const a = mix32((start + j + key0) >>> 0)
    const b = mix32((a ^ key1) >>> 0)
    const k = (a & 0xffff) + (a >>> 16) + (b & 0xffff) + (b >>> 16) - 131070
    out[j] = (positive ? Math.abs(k) + 1 : k) * factor
  }
  return roundToDtype(out, dtype)
}
