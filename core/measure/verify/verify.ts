import { CaseError, type PreparedCase } from '../../backend'
import type { BenchmarkCase, Params } from '../../case'
import type { Op, Tolerance } from '../../ops/types'
import type { Verification } from '../../result'
import { addDifference, noDifference, type Difference } from './difference'
import { planRanges, type Range } from './plan'
import { createReference } from './reference'

/** Elements, and share of the work, that are compared after timing: more was compared before, and all of it is searched for holes both times. */
const AFTER_ELEMENTS = 1 << 16
const AFTER_SHARE = 1 / 4

export interface Verifier {
  /** Compares the output as it is now. `after` checks fewer elements. Never throws for a wrong output. */
  check(prepared: PreparedCase, when: 'before' | 'after', pause: () => Promise<void>): Promise<Verification>
}

/** Checks outputs of one case against the op's float64 reference, within `work` units. */
export function createVerifier(op: Op, c: BenchmarkCase, seed: number, work: number): Verifier {
  const params: Params = op.params.parse(c.params)
  const total = op.outputShape(params).reduce((a, b) => a * b, 1)
  const costPerElement = op.referenceCost(params)
  const plan = (units: number) => planRanges({ elements: total, granule: op.granule(params), costPerElement }, units, seed)
  const reference = createReference(op, params, c.dtype, seed)
  const tolerance = op.tolerance(params, c.dtype)

  return {
    async check(prepared, when, pause) {
      const unwritten = await prepared.countUnwritten()
      const difference = noDifference()
      for (const ranges of readable(plan(when === 'before' ? work : Math.min(work * AFTER_SHARE, costPerElement * AFTER_ELEMENTS)))) {
        for (const [i, out] of (await readAll(prepared, ranges)).entries()) {
          const range = ranges[i]!
          addDifference(difference, out, reference(range), range.start, c.dtype, tolerance.maxUlp !== undefined)
          await pause()
        }
      }
      return judge(difference, tolerance, { total, unwritten, scale: op.outputScale?.(params) ?? 0 })
    },
  }
}

/** Elements that are read at once: bounds memory. */
const READ_ELEMENTS = 1 << 18

/** The ranges in order, in groups to read at once. */
function readable(ranges: readonly Range[]): Range[][] {
  const groups: Range[][] = []
  let elements = Infinity
  for (const range of ranges) {
    elements += range.count
    if (elements > READ_ELEMENTS) {
      groups.push([])
      elements = range.count
    }
    groups.at(-1)!.push(range)
  }
  return groups
}

async function readAll(prepared: PreparedCase, ranges: readonly Range[]): Promise<Float32Array[]> {
  const parts: Float32Array[] = []
  if (prepared.readRanges) parts.push(...(await prepared.readRanges(ranges)))
  else for (const { start, count } of ranges) parts.push(await prepared.read(start, count))
  for (const [i, { count }] of ranges.entries()) {
    if (parts[i]?.length !== count) throw new CaseError('internal', `The backend returned ${parts[i]?.length ?? 0} output elements where ${count} were asked for.`)
  }
  return parts
}

function judge(d: Difference, tolerance: Tolerance, output: { total: number; unwritten: number; scale: number }): Verification {
  const norm = Math.max(Math.sqrt(d.sumSquaredReference), output.scale * Math.sqrt(d.elements - d.nonFinite))
  const error = Math.sqrt(d.sumSquaredError)
  const relL2 = error === 0 ? 0 : norm > 0 ? error / norm : undefined
  const verification: Verification = {
    ok: false,
    tolerance: tolerance.relL2,
    checkedElements: d.elements,
    totalElements: output.total,
    unwritten: output.unwritten,
    nonFinite: d.nonFinite,
    maxAbs: d.maxAbs,
  }
  if (relL2 !== undefined && Number.isFinite(relL2)) verification.relL2 = relL2
  if (tolerance.maxUlp !== undefined) verification.maxUlp = d.maxUlp
  const message = complaint(verification, tolerance, d)
  if (message === undefined) verification.ok = true
  else verification.message = message
  return verification
}

function complaint(v: Verification, tolerance: Tolerance, d: Difference): string | undefined {
  const count = (n: number) => n.toLocaleString('en-US')
  if (v.unwritten > 0) return `${count(v.unwritten)} of ${count(v.totalElements)} output elements were never written.`
  if (d.nonFinite > 0) {
    return `${count(d.nonFinite)} of ${count(d.elements)} checked elements are NaN or infinite where the reference is not; the first is element ${count(d.firstNonFinite ?? 0)}.`
  }
  if (v.relL2 === undefined) return 'The reference is zero everywhere and the output is not.'
  if (!(v.relL2 <= tolerance.relL2)) return `The relative error is ${v.relL2.toExponential(2)}; at most ${tolerance.relL2.toExponential(2)} is allowed.`
  if (tolerance.maxUlp !== undefined && !(d.maxUlp <= tolerance.maxUlp)) {
    return `One element is ${d.maxUlp.toPrecision(3)} units in the last place off; at most ${tolerance.maxUlp} are allowed.`
  }
  return undefined
}
