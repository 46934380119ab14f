import type { Dtype } from './case'

const f32 = new Float32Array(1)
const u32 = new Uint32Array(f32.buffer)

/** bf16 bits of an f32 value, round to nearest even (IEEE 754 truncated format; NaN stays NaN). */
export function toBf16Bits(value: number): number {
  f32[0] = value
  const bits = u32[0]!
  if ((bits & 0x7fffffff) > 0x7f800000) return (bits >>> 16) | 0x40
  return ((bits + 0x7fff + ((bits >>> 16) & 1)) >>> 16) & 0xffff
}

/** The f32 value of bf16 bits. */
export function fromBf16Bits(bits: number): number {
  u32[0] = bits << 16
  return f32[0]!
}

/** IEEE 754 binary16 bits of an f32 value, round to nearest even, subnormals kept. */
export function toF16Bits(value: number): number {
  f32[0] = value
  const bits = u32[0]!
  const sign = (bits >>> 16) & 0x8000
  const magnitude = bits & 0x7fffffff
  if (magnitude > 0x7f800000) return sign | 0x7e00
  if (magnitude >= 0x477ff000) return sign | 0x7c00
  if (magnitude < 0x38800000) {
    // Subnormal or zero: adding 0.5 makes the f32 adder round at bit 2^-24.
    f32[0] = Math.fround(Math.abs(value) + 0.5)
    return sign | (u32[0]! - 0x3f000000)
  }
  const rounded = magnitude + 0xfff + ((magnitude >>> 13) & 1)
  return sign | ((rounded - 0x38000000) >>> 13)
}

/** The f32 value of IEEE 754 binary16 bits. */
export function fromF16Bits(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1
  const exponent = (bits >>> 10) & 0x1f
  const fraction = bits & 0x3ff
  if (exponent === 0) return sign * fraction * 2 ** -24
  if (exponent === 31) return fraction ? NaN : sign * Infinity
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15)
}

/** Round every element to what `dtype` can hold, in place; f32 and tf32 storage stay as they are. */
export function roundToDtype(values: Float32Array, dtype: Dtype): Float32Array {
  if (dtype === 'bf16') for (let i = 0; i < values.length; i++) values[i] = fromBf16Bits(toBf16Bits(values[i]!))
  else if (dtype === 'f16') for (let i = 0; i < values.length; i++) values[i] = fromF16Bits(toF16Bits(values[i]!))
  return values
}

/** Raw tensor memory as f32 values: 4-byte elements as they are, 2-byte elements decoded. */
export function decode(bytes: ArrayBuffer, dtype: Dtype): Float32Array {
  if (dtype === 'f32' || dtype === 'tf32') return new Float32Array(bytes)
  const bits = new Uint16Array(bytes)
  return Float32Array.from(bits, dtype === 'bf16' ? fromBf16Bits : fromF16Bits)
}

/**
 * The pattern outputs are filled with before a run: a quiet NaN that no kernel produces.
 * An element that still holds it after a run was never written.
 */
export const SENTINEL = { f32: 0x7fedc0de, f16: 0x7ede, bf16: 0x7fde } as const

/** Sentinel bits of the storage type of `dtype`. */
export const sentinelBits = (dtype: Dtype): number => (dtype === 'f16' ? SENTINEL.f16 : dtype === 'bf16' ? SENTINEL.bf16 : SENTINEL.f32)
