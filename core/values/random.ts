import { storageOf, type Dtype, type StorageType } from '../case'
import { roundToStorage } from './numbers'

/**
 * Benchmark inputs, the same bit for bit in TypeScript, C++, CUDA, WGSL and NumPy.
 *
 * Element `i` of a tensor depends on (seed, stream, i) alone, so any part can be made anywhere without the rest.
 * All arithmetic is in uint32 (wrapping) until one f32 multiplication makes the value and one rounding takes it to the
 * storage type.
 *
 *   key0 = mix(seed + stream * 0x9E3779B9)      key1 = mix(key0 ^ 0x85EBCA6B)
 *   lo = i mod 2^32, hi = floor(i / 2^32)       key = hi == 0 ? key0 : mix(key0 ^ mix(hi))
 *   a = mix(lo + key)
 *   b = mix(a ^ key1)
 *   k = (a & 0xFFFF) + (a >>> 16) + (b & 0xFFFF) + (b >>> 16) - 131070                  (exact in f32)
 *
 *   normal       f32(k) * f32(scale * UNIT)          bell shape: four uniform 16-bit lanes (Irwin-Hall, n = 4; support ±3.46)
 *   positive     f32(|k| + 1) * f32(scale * UNIT)
 *   uniform      f32(a >>> 8) * f32(scale * 2^-24)   in [0, scale)
 *   integers     low + floor(a * below / 2^32)       in [low, low + below)
 *   permutation  P(i mod below), P a bijection on [0, below): on b = bits of (below - 1) bits, m = 2^b - 1, s = max(1, b >> 1),
 *                x = (x * 0x9E3779B1 + key0) & m; x ^= x >>> s; x = (x * 0x85EBCA77 + key1) & m; x ^= x >>> s;
 *                both lines again; and from the start with the x it gave while x >= below (cycle walking)
 *   constant     value
 *
 * `mix` is lowbias32 (C. Wellons, "Prospecting for Hash Functions", public domain).
 */
export type FillSpec =
  /** `scale`: standard deviation of `normal`, upper end of `uniform`; must be exactly representable in f32. */
  | { kind: 'normal' | 'positive' | 'uniform'; scale: number }
  /** Whole numbers low .. low + below - 1; `low` is 0 where absent. */
  | { kind: 'integers'; below: number; low?: number }
  /** Every `below` elements in a row hold 0 .. below - 1, each once. */
  | { kind: 'permutation'; below: number }
  | { kind: 'constant'; value: number }

/** Fills by the number that backends are handed. */
export const FILL_KINDS = ['normal', 'positive', 'uniform', 'integers', 'permutation', 'constant'] as const

/** 1 / standard deviation of the sum of four uniform lanes on 0..65535: sqrt(4 * (65536^2 - 1) / 12). */
export const UNIT = Math.fround(1 / Math.sqrt((65536 * 65536 - 1) / 3))

/** lowbias32, a bijection on uint32. */
export function mix32(x: number): number {
  x = Math.imul(x ^ (x >>> 16), 0x7feb352d)
  x = Math.imul(x ^ (x >>> 15), 0x846ca68b)
  return (x ^ (x >>> 16)) >>> 0
}

/** The two keys of a tensor; `stream` is the place of the tensor among those of its op that are filled. */
export function streamKeys(seed: number, stream: number): { key0: number; key1: number } {
  const key0 = mix32((seed + Math.imul(stream, 0x9e3779b9)) >>> 0)
  return { key0, key1: mix32((key0 ^ 0x85ebca6b) >>> 0) }
}

/** What a backend needs to fill one tensor: plain numbers, the same for every language. */
export interface FillWords {
  /** Index into FILL_KINDS. */
  kind: number
  key0: number
  key1: number
  /** f32 that the integer is multiplied by; the value itself for `constant`. */
  factor: number
  /** Lowest integer and how many integers there are; 0 for other kinds. */
  low: number
  below: number
}

/** The f32 factor that every backend multiplies the integer by. */
export function fillFactor(fill: FillSpec): number {
  switch (fill.kind) {
    case 'normal':
    case 'positive':
      return Math.fround(Math.fround(fill.scale) * UNIT)
    case 'uniform':
      return Math.fround(Math.fround(fill.scale) * 2 ** -24)
    case 'constant':
      return Math.fround(fill.value)
    default:
      return 1
  }
}

/** The words of a fill for one seed and stream. */
export function fillWords(fill: FillSpec, seed: number, stream: number): FillWords {
  const below = 'below' in fill ? fill.below : 0
  return { kind: FILL_KINDS.indexOf(fill.kind), ...streamKeys(seed, stream), factor: fillFactor(fill), low: fill.kind === 'integers' ? (fill.low ?? 0) : 0, below }
}

/** A float dtype of a case, or the storage type of a tensor that has its own. */
type ElementType = Dtype | StorageType

/** Elements `start .. start + count` of a tensor as exact numbers: rounded to the element type, integers as they are. */
export function fillRange(seed: number, stream: number, fill: Extract<FillSpec, { scale: number }>, type: ElementType, start: number, count: number): Float32Array
export function fillRange(seed: number, stream: number, fill: FillSpec, type: ElementType, start: number, count: number): Float32Array | Int32Array
export function fillRange(seed: number, stream: number, fill: FillSpec, type: ElementType, start: number, count: number): Float32Array | Int32Array {
  const { kind, key0, key1, factor, low, below } = fillWords(fill, seed, stream)
  const storage = type === 'tf32' || type === 'unknown' ? storageOf(type) : type
  if (kind === 3 || kind === 4) {
    const out = new Int32Array(count)
    if (kind === 3) eachHash(start, count, key0, (j, a) => (out[j] = low + scaleDown(a, below)))
    else for (let j = 0; j < count; j++) out[j] = permuted((start + j) % below, below, key0, key1)
    if (storage === 'i32' || storage === 'i8' || storage === 'u8') return out
    return roundToStorage(new Float32Array(out), storage)
  }
  const out = new Float32Array(count)
  if (kind === 5) out.fill(factor)
  else if (kind === 2) eachHash(start, count, key0, (j, a) => (out[j] = (a >>> 8) * factor))
  else bell(out, start, key0, key1, factor, kind === 1)
  return roundToStorage(out, storage)
}

/** The key of the block of 2^32 elements that `hi` counts. */
const blockKey = (key0: number, hi: number): number => (hi === 0 ? key0 : mix32((key0 ^ mix32(hi)) >>> 0))

function eachHash(start: number, count: number, key0: number, use: (j: number, a: number) => void): void {
  for (let done = 0; done < count; ) {
    const hi = Math.floor((start + done) / 2 ** 32)
    const end = Math.min(count, (hi + 1) * 2 ** 32 - start)
    const key = blockKey(key0, hi)
    for (; done < end; done++) use(done, mix32((start + done + key) >>> 0))
  }
}

// Apart from eachHash, because this is the loop that makes nearly every input: a closure for each element halves its speed.
function bell(out: Float32Array, start: number, key0: number, key1: number, factor: number, positive: boolean): void {
  for (let done = 0; done < out.length; ) {
    const hi = Math.floor((start + done) / 2 ** 32)
    const end = Math.min(out.length, (hi + 1) * 2 ** 32 - start)
    const offset = ((start % 2 ** 32) + blockKey(key0, hi)) >>> 0
    for (; done < end; done++) {
      const a = mix32((done + offset) >>> 0)
      const b = mix32((a ^ key1) >>> 0)
      const k = (a & 0xffff) + (a >>> 16) + (b & 0xffff) + (b >>> 16) - 131070
      out[done] = (positive ? Math.abs(k) + 1 : k) * factor
    }
  }
}

/** floor(a * below / 2^32) without leaving the exact integers of a double. */
const scaleDown = (a: number, below: number): number => Math.floor(((a >>> 16) * below + Math.floor(((a & 0xffff) * below) / 65536)) / 65536)

function permuted(i: number, below: number, key0: number, key1: number): number {
  const bits = Math.max(1, 32 - Math.clz32(below - 1))
  const mask = bits === 32 ? 0xffffffff : 2 ** bits - 1
  const shift = Math.max(1, bits >> 1)
  let x = i
  do {
    for (let round = 0; round < 2; round++) {
      x = ((Math.imul(x, 0x9e3779b1) + key0) & mask) >>> 0
      x = (x ^ (x >>> shift)) >>> 0
      x = ((Math.imul(x, 0x85ebca77) + key1) & mask) >>> 0
      x = (x ^ (x >>> shift)) >>> 0
    }
  } while (x >= below)
  return x
}

/**
 * Philox 4x32-10 (Salmon, Moraes, Dror & Shaw 2011, "Parallel random numbers: as easy as 1, 2, 3"): four random uint32 from
 * a counter of four words and a key of two. Ten rounds of
 *
 *   (c0, c1, c2, c3) = (hi(M1 c2) ^ c1 ^ k0,  lo(M1 c2),  hi(M0 c0) ^ c3 ^ k1,  lo(M0 c0))
 *
 * with M0 = 0xD2511F53 and M1 = 0xCD9E8D57; between rounds k0 += 0x9E3779B9 and k1 += 0xBB67AE85. All in uint32.
 */
export function philox4x32(counter: readonly [number, number, number, number], key: readonly [number, number]): [number, number, number, number] {
  let [c0, c1, c2, c3] = counter
  let [k0, k1] = key
  for (let round = 0; round < 10; round++) {
    const low0 = Math.imul(0xd2511f53, c0) >>> 0
    const low1 = Math.imul(0xcd9e8d57, c2) >>> 0
    const high0 = highProduct(0xd2511f53, c0)
    const high1 = highProduct(0xcd9e8d57, c2)
    ;[c0, c1, c2, c3] = [(high1 ^ c1 ^ k0) >>> 0, low1, (high0 ^ c3 ^ k1) >>> 0, low0]
    k0 = (k0 + 0x9e3779b9) >>> 0
    k1 = (k1 + 0xbb67ae85) >>> 0
  }
  return [c0, c1, c2, c3]
}

/** Upper 32 bits of the product of two uint32. */
function highProduct(a: number, b: number): number {
  const [aHigh, aLow, bHigh, bLow] = [a >>> 16, a & 0xffff, b >>> 16, b & 0xffff]
  const middle = aHigh * bLow + Math.floor((aLow * bLow) / 65536)
  const other = aLow * bHigh + (middle % 65536)
  return (aHigh * bHigh + Math.floor(middle / 65536) + Math.floor(other / 65536)) >>> 0
}
