import type { StorageType } from '../case'

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
export const fromF16Bits = (bits: number): number => F16[bits]!

/** Every value of a 16-bit type: verification decodes and rounds tensors of many millions of elements. */
const F16 = Float32Array.from({ length: 2 ** 16 }, (_, bits) => f16Value(bits))

function f16Value(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1
  const exponent = (bits >>> 10) & 0x1f
  const fraction = bits & 0x3ff
  if (exponent === 0) return sign * fraction * 2 ** -24
  if (exponent === 31) return fraction ? NaN : sign * Infinity
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15)
}

/** Largest finite value of OCP E4M3. */
export const E4M3_MAX = 448

/** OCP E4M3 bits of a value: round to nearest even, saturating at ±448 as CUDA's conversions and PyTorch's scaled products do; NaN is 0x7f. */
export function toE4m3Bits(value: number): number {
  if (Number.isNaN(value)) return 0x7f
  const sign = value < 0 || Object.is(value, -0) ? 0x80 : 0
  const magnitude = Math.min(Math.abs(value), E4M3_MAX)
  // Below 2^-6 the spacing is that of subnormals, 2^-9.
  const exponent = magnitude < 2 ** -6 ? -6 : Math.floor(Math.log2(magnitude))
  const steps = roundHalfEven(magnitude / 2 ** (exponent - 3))
  // A carry into the next exponent falls out of the addition.
  const bits = exponent === -6 ? steps : ((exponent + 7) << 3) + (steps - 8)
  return sign | Math.min(bits, 0x7e)
}

function roundHalfEven(x: number): number {
  const floor = Math.floor(x)
  const rest = x - floor
  return rest > 0.5 || (rest === 0.5 && floor % 2 === 1) ? floor + 1 : floor
}

/** The value of OCP E4M3 bits. */
export const fromE4m3Bits = (bits: number): number => E4M3[bits]!

const E4M3 = Float32Array.from({ length: 2 ** 8 }, (_, bits) => e4m3Value(bits))

function e4m3Value(bits: number): number {
  const sign = bits & 0x80 ? -1 : 1
  const exponent = (bits >>> 3) & 0xf
  const fraction = bits & 7
  if ((bits & 0x7f) === 0x7f) return NaN
  return exponent === 0 ? sign * fraction * 2 ** -9 : sign * (1 + fraction / 8) * 2 ** (exponent - 7)
}

const narrow: Readonly<Partial<Record<StorageType, (value: number) => number>>> = {
  bf16: (value) => fromBf16Bits(toBf16Bits(value)),
  f16: (value) => fromF16Bits(toF16Bits(value)),
  f8e4m3: (value) => fromE4m3Bits(toE4m3Bits(value)),
}

/** Rounds every element to what the storage type can hold, in place; f32 and integers stay as they are. */
export function roundToStorage(values: Float32Array, type: StorageType): Float32Array {
  const round = narrow[type]
  if (round) for (let i = 0; i < values.length; i++) values[i] = round(values[i]!)
  return values
}

/** Elements of a tensor as numbers: floats as f32 (exact for every float storage), integers as they are. */
export type Values = Float32Array | Int32Array | Int8Array | Uint8Array

/** Raw tensor memory as numbers. */
export function decode(bytes: ArrayBuffer, type: StorageType): Values {
  switch (type) {
    case 'f32':
      return new Float32Array(bytes)
    case 'i32':
      return new Int32Array(bytes)
    case 'i8':
      return new Int8Array(bytes)
    case 'u8':
      return new Uint8Array(bytes)
    case 'f8e4m3':
      return decodeWith(E4M3, new Uint8Array(bytes))
    case 'bf16':
      return decodeBf16(new Uint16Array(bytes))
    case 'f16':
      return decodeWith(F16, new Uint16Array(bytes))
  }
}

// Plain loops: `from` with a function takes ten times as long.
function decodeWith(values: Float32Array, bits: Uint8Array | Uint16Array): Float32Array {
  const out = new Float32Array(bits.length)
  for (let i = 0; i < bits.length; i++) out[i] = values[bits[i]!]!
  return out
}

function decodeBf16(bits: Uint16Array): Float32Array {
  const out = new Uint32Array(bits.length)
  for (let i = 0; i < bits.length; i++) out[i] = bits[i]! << 16
  return new Float32Array(out.buffer)
}

/**
 * The bits outputs are filled with before a run: for floats a quiet NaN that no kernel produces, for integers a value that
 * no operation of the catalogue gives. An element that still holds it after a run was never written.
 */
export const SENTINEL: Readonly<Record<StorageType, number>> = { f32: 0x7fedc0de, f16: 0x7ede, bf16: 0x7fde, f8e4m3: 0xff, i32: 0x7fedc0de, i8: 0x80, u8: 0xde }
