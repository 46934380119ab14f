import type { StorageType } from '../../case'
import type { Values } from '../../values/numbers'
import type { Tolerance } from '../../ops/types'

interface Float {
  /** Explicit fraction bits. */
  fraction: number
  /** Exponent of the smallest normal number. */
  minExponent: number
  /** From this magnitude on, rounding to nearest gives infinity. */
  overflow: number
}

const F32: Float = { fraction: 23, minExponent: -126, overflow: 2 ** 128 - 2 ** 103 }

/** Integers are compared as they are: their spacing is 1. */
const INTEGER: Float = { fraction: 0, minExponent: 0, overflow: Infinity }

/** IEEE 754 parameters of each storage type. */
const FLOATS: Readonly<Record<StorageType, Float>> = {
  f32: F32,
  i32: INTEGER,
  i8: INTEGER,
  u8: INTEGER,
  f8e4m3: { fraction: 3, minExponent: -6, overflow: 480 },
  f16: { fraction: 10, minExponent: -14, overflow: 65520 },
  bf16: { fraction: 7, minExponent: -126, overflow: 2 ** 128 - 2 ** 119 },
}

const f64 = new Float64Array(1)
const words = new Uint32Array(f64.buffer)

/** floor(log2(|x|)) of a normal float64. */
function exponentOf(x: number): number {
  f64[0] = x
  return ((words[1]! >>> 20) & 0x7ff) - 1023
}

/** Size of one unit in the last place of `type` at magnitude |x|. Below the smallest normal it is that number, since subnormals may be flushed. */
export function ulp(x: number, type: StorageType): number {
  const { fraction, minExponent } = FLOATS[type]
  const exponent = exponentOf(x)
  // The power of two from its bits: exponents of storage types are those of normal float64s.
  words[0] = 0
  words[1] = ((exponent < minExponent ? minExponent : exponent - fraction) + 1023) << 20
  return f64[0]!
}

/** Running comparison of an output with its reference, over any number of ranges. Plain data, so that worker threads can send it. */
export interface Difference {
  elements: number
  sumSquaredError: number
  sumSquaredReference: number
  maxAbs: number
  /** Largest distance in units in the last place; only kept up where the bound of an element has no absolute part. */
  maxUlp: number
  /** NaN or infinite where the reference is not, or of the wrong sign. */
  nonFinite: number
  firstNonFinite?: number
  /** Elements where the reference itself exceeds what the storage type holds. */
  overflowing: number
  /** Elements beyond the bound of an element, and the worst error as a multiple of that bound; Infinity where the bound is 0. */
  beyond: number
  worst: number
  worstAt?: number | undefined
  worstError?: number | undefined
  /** Sum of the squared multiples of the bound, over the elements where that is finite: whether the worst stands out from the rest. */
  sumSquaredMultiple: number
  /** Elements that are not 0: what a random op kept. */
  kept: number
}

export const noDifference = (): Difference => ({
  elements: 0, sumSquaredError: 0, sumSquaredReference: 0, maxAbs: 0, maxUlp: 0, nonFinite: 0, overflowing: 0, beyond: 0, worst: 0, sumSquaredMultiple: 0, kept: 0,
})

/**
 * Adds the comparison of `out` with `reference`, whose first element is output element `start`. Where the reference
 * rounds to infinity in `type`, infinity of the same sign (or the largest values) passes. Of an error among
 * subnormals, the half step that correct rounding itself costs there does not count: a long f16 softmax lives there.
 */
export function addDifference(total: Difference, out: Values, reference: Float64Array, start: number, type: StorageType, bound: Tolerance['element']): void {
  const { overflow, minExponent, fraction } = FLOATS[type]
  const smallestNormal = 2 ** minExponent
  const halfStep = 2 ** (minExponent - fraction - 1)
  const { ulp: ulps, abs } = bound
  for (let i = 0; i < reference.length; i++) {
    const expected = reference[i]!
    const got = out[i]!
    total.elements++
    if (got !== 0) total.kept++
    if (!(Math.abs(expected) < overflow)) {
      total.overflowing++
      const passes = Number.isNaN(expected) ? Number.isNaN(got) : got * Math.sign(expected) >= overflow * 0.99
      if (!passes) bad(total, start + i)
      continue
    }
    const error = Math.abs(got - expected)
    if (!Number.isFinite(error)) {
      bad(total, start + i)
      continue
    }
    total.sumSquaredReference += expected * expected
    if (error === 0) continue
    const counted = Math.abs(expected) < smallestNormal ? Math.max(0, error - halfStep) : error
    total.sumSquaredError += counted * counted
    if (error > total.maxAbs) total.maxAbs = error
    const spacing = ulp(expected, type)
    if (abs === 0 && error > total.maxUlp * spacing) total.maxUlp = error / spacing
    const multiple = error / (ulps * spacing + abs)
    if (multiple < Infinity) total.sumSquaredMultiple += multiple * multiple
    if (multiple > 1) total.beyond++
    if (multiple > total.worst) {
      total.worst = multiple
      total.worstAt = start + i
      total.worstError = error
    }
  }
}

/** Adds what another thread, or another part of the output, has found. */
export function mergeDifference(total: Difference, part: Difference): void {
  for (const field of ['elements', 'sumSquaredError', 'sumSquaredReference', 'nonFinite', 'overflowing', 'beyond', 'sumSquaredMultiple', 'kept'] as const) total[field] += part[field]
  total.maxAbs = Math.max(total.maxAbs, part.maxAbs)
  total.maxUlp = Math.max(total.maxUlp, part.maxUlp)
  if (part.firstNonFinite !== undefined) total.firstNonFinite = Math.min(part.firstNonFinite, total.firstNonFinite ?? Infinity)
  // The first of equals, whatever order parts arrive in.
  if (part.worst > total.worst || (part.worst === total.worst && part.worstAt !== undefined && part.worstAt < (total.worstAt ?? Infinity))) {
    total.worst = part.worst
    total.worstAt = part.worstAt
    total.worstError = part.worstError
  }
}

function bad(total: Difference, at: number): void {
  total.nonFinite++
  total.firstNonFinite ??= at
}
