import type { Tolerance } from '../../ops/types'
import type { Verification } from '../../result'
import type { Difference } from './difference'

/** Multiples of the bounds up to which an output is less accurate rather than wrong: three bits. */
const INACCURATE = 8
/** An error that stands out by more than this from the root mean square of all is no rounding: of 2^26 roundings that spread like a normal distribution the largest is near 6. */
const STANDS_OUT = 16
/** Standard deviations by which the rate of a random op may miss. */
const RATE_DEVIATIONS = 6

/** What was found of one output. */
export interface Findings {
  /** Elements compared one by one: the whole output, or a sample without preference. */
  compared: Difference
  /** Elements compared because their block stood out: they count for bounds, not for the norm. */
  suspects?: Difference
  /** Error and output norms of the whole output as random projections estimate them, from this many values. */
  projected?: { squaredError: number; squaredOutput: number; values: number }
  total: number
  unwritten: number
  /** Over the whole output. */
  nonFinite: number
  /** Typical magnitude of one element. */
  scale: number
  /** Probability that a random op keeps an element. */
  keepRate?: number
  /** False where a second run with the same seed gave other bits. */
  repeats?: boolean
  coverage: number
}

const count = (n: number) => n.toLocaleString('en-US')
const figure = (x: number) => x.toExponential(2)

/** The verdict on one output. */
export function verificationOf(f: Findings, tolerance: Tolerance): Verification {
  const { compared, suspects } = f
  const worst = suspects && suspects.worst > compared.worst ? suspects : compared
  const nonFinite = Math.max(compared.nonFinite + (suspects?.nonFinite ?? 0), uncheckedNonFinite(f))
  const relL2 = relativeError(f)
  const verification: Verification = {
    ok: false,
    tolerance: tolerance.relL2,
    checkedElements: compared.elements + (suspects?.elements ?? 0),
    totalElements: f.total,
    coverage: f.coverage,
    unwritten: f.unwritten,
    nonFinite,
    maxAbs: Math.max(compared.maxAbs, suspects?.maxAbs ?? 0),
  }
  if (relL2 !== undefined && Number.isFinite(relL2)) verification.relL2 = relL2
  if (tolerance.element.abs === 0) verification.maxUlp = Math.max(compared.maxUlp, suspects?.maxUlp ?? 0)
  if (Number.isFinite(worst.worst)) verification.worstElement = worst.worst
  const message = complaint(verification, f, tolerance, worst)
  if (message === undefined) return { ...verification, ok: true }
  return { ...verification, message, ...(isInaccurate(verification, f, worst) ? { inaccurate: true } : {}) }
}

/** Non-finite elements that were not compared fail unless the reference itself overflows somewhere among those that were. */
const uncheckedNonFinite = ({ compared, suspects, nonFinite }: Findings) => (compared.overflowing + (suspects?.overflowing ?? 0) > 0 ? 0 : nonFinite)

/** ‖out − ref‖ / ‖ref‖ of what was compared, or of the whole output where projections say that it is larger beyond doubt. */
function relativeError({ compared: d, projected, scale }: Findings): number | undefined {
  const relative = (squaredError: number, squaredNorm: number, elements: number) => {
    const norm = Math.max(Math.sqrt(squaredNorm), scale * Math.sqrt(elements))
    return squaredError === 0 ? 0 : norm > 0 ? Math.sqrt(squaredError) / norm : undefined
  }
  const sampled = relative(d.sumSquaredError, d.sumSquaredReference, d.elements - d.nonFinite)
  if (!projected || sampled === undefined) return sampled
  // A sum of n squares of normal values spreads by sqrt(2 / n) of itself; four of that are no chance.
  const doubt = Math.sqrt(1 + 4 * Math.sqrt(2 / projected.values))
  return Math.max(sampled, (relative(projected.squaredError, projected.squaredOutput, 0) ?? 0) / doubt)
}

function complaint(v: Verification, f: Findings, tolerance: Tolerance, worst: Difference): string | undefined {
  const { compared } = f
  if (v.unwritten > 0) return `${count(v.unwritten)} of ${count(v.totalElements)} output elements were never written.`
  if (v.nonFinite > 0) {
    const first = compared.firstNonFinite ?? f.suspects?.firstNonFinite
    if (first === undefined) return `${count(v.nonFinite)} of ${count(f.total)} output elements are NaN or infinite; the reference is finite wherever it was computed.`
    return compared.elements === f.total
      ? `${count(v.nonFinite)} of ${count(f.total)} output elements are NaN or infinite where the reference is not; the first is element ${count(first)}.`
      : `${count(v.nonFinite)} output elements are NaN or infinite where the reference is not; one is element ${count(first)}.`
  }
  if (f.repeats === false) return 'Two runs with the same seed gave different outputs.'
  if (f.keepRate !== undefined) {
    const rate = compared.kept / Math.max(1, compared.elements)
    const spread = RATE_DEVIATIONS * Math.sqrt((f.keepRate * (1 - f.keepRate)) / Math.max(1, compared.elements))
    if (Math.abs(rate - f.keepRate) > spread + 1 / Math.max(1, compared.elements)) return `The share of elements kept is ${rate.toPrecision(4)}; expected ${f.keepRate} ± ${spread.toPrecision(2)}.`
  }
  // Without a norm to relate errors to, the bound of an element alone judges.
  if (v.relL2 === undefined && compared.sumSquaredError > 0 && !(worst.worst <= 1)) return 'The reference is zero everywhere and the output is not.'
  if (v.relL2 !== undefined && !(v.relL2 <= tolerance.relL2)) return `The relative error is ${figure(v.relL2)}; at most ${figure(tolerance.relL2)} is allowed.`
  if (!(worst.worst <= 1)) {
    const at = `Element ${count(worst.worstAt ?? 0)} is off by ${figure(worst.worstError ?? 0)}`
    return Number.isFinite(worst.worst) ? `${at}, ${worst.worst.toPrecision(3)} times the bound of an element.` : `${at}; it must be exact.`
  }
  return undefined
}

/** True where the bounds are exceeded as by rounding: a little, and by many elements rather than a few. */
function isInaccurate(v: Verification, f: Findings, worst: Difference): boolean {
  if (v.unwritten > 0 || v.nonFinite > 0 || f.repeats === false || v.relL2 === undefined || v.worstElement === undefined) return false
  const { compared } = f
  const spread = Math.sqrt(compared.sumSquaredMultiple / Math.max(1, compared.elements))
  return v.relL2 <= INACCURATE * v.tolerance && worst.worst <= INACCURATE && worst.worst <= STANDS_OUT * spread && (f.keepRate === undefined || worst.worst > 1 || v.relL2 > v.tolerance)
}
