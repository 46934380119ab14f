import type { Dtype } from '../../case'

interface Float {
  /** Explicit fraction bits. */
  fraction: number
  /** Exponent of the smallest normal number. */
  minExponent: number
  /** From this magnitude on, rounding to nearest gives infinity. */
  overflow: number
}

const F32: Float = { fraction: 23, minExponent: -126, overflow: 2 ** 128 - 2 ** 103 }

/** IEEE 754 parameters of what each dtype stores. */
const FLOATS: Readonly<Record<Dtype, Float>> = {
  f32: F32,
  tf32: F32,
  unknown: F32,
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

/** Size of one unit in the last place of `dtype` at magnitude |x|. Below the smallest normal it is that number, since subnormals may be flushed. */
export function ulp(x: number, dtype: Dtype): number {
  const { fraction, minExponent } = FLOATS[dtype]
  const exponent = exponentOf(x)
  return exponent < minExponent ? 2 ** minExponent : 2 ** (exponent - fraction)
}

/** Running comparison of an output with its reference, over any number of ranges. */
export interface Difference {
  elements: number
  sumSquaredError: number
  sumSquaredReference: number
  maxAbs: number
  /** Largest distance in units in the last place; only kept up when asked for. */
  maxUlp: number
  /** NaN or infinite where the reference is not, or of the wrong sign. */
  nonFinite: number
  firstNonFinite?: number
}

export const noDifference = (): Difference => ({ elements: 0, sumSquaredError: 0, sumSquaredReference: 0, maxAbs: 0, maxUlp: 0, nonFinite: 0 })

/**
 * Adds the comparison of `out` with `reference`, whose first element is output element `start`. Where the reference
 * rounds to infinity in `dtype`, infinity of the same sign (or the largest values) is right. Of an error among
 * subnormals, the half step that correct rounding itself costs there does not count: a long f16 softmax lives there.
 */
export function addDifference(total: Difference, out: Float32Array, reference: Float64Array, start: number, dtype: Dtype, withUlp: boolean): void {
  const { overflow, minExponent, fraction } = FLOATS[dtype]
  const smallestNormal = 2 ** minExponent
  const halfStep = 2 ** (minExponent - fraction - 1)
  for (let i = 0; i < reference.length; i++) {
    const expected = reference[i]!
    const got = out[i]!
    total.elements++
    if (!(Math.abs(expected) < overflow)) {
      const right = Number.isNaN(expected) ? Number.isNaN(got) : got * Math.sign(expected) >= overflow * 0.99
      if (!right) bad(total, start + i)
      continue
    }
    const error = Math.abs(got - expected)
    if (!Number.isFinite(error)) {
      bad(total, start + i)
      continue
    }
    const counted = Math.abs(expected) < smallestNormal ? Math.max(0, error - halfStep) : error
    total.sumSquaredError += counted * counted
    total.sumSquaredReference += expected * expected
    if (error > total.maxAbs) total.maxAbs = error
    if (withUlp && error !== 0) total.maxUlp = Math.max(total.maxUlp, error / ulp(expected, dtype))
  }
}

function bad(total: Difference, at: number): void {
  total.nonFinite++
  total.firstNonFinite ??= at
}
