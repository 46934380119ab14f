import type { Params } from '../case'
import { canonicalParams } from '../ops/define'
import type { Op } from '../ops/types'
import type { SweepSpec } from '../session/sweep-spec'

/** A part of a composite op as a case of its own measures it: with inputs of its own, not those of the part before. */
export interface MeasuredPart {
  name: string
  pass: 'forward' | 'backward'
  op: Op
  /** Canonical, as in a case. */
  params: Params
}

/** The parts of an op with these parameters, in the order that they run; none where it is not composite. */
export function measuredParts(op: Op, params: Params, parts: NonNullable<SweepSpec['parts']>): MeasuredPart[] {
  const p = op.params.parse(params)
  const of = (pass: MeasuredPart['pass']) => (part: { name: string; op: Op; params: Params }): MeasuredPart => ({ name: part.name, pass, op: part.op, params: canonicalParams(part.op, part.params) })
  return [...(op.parts?.(p) ?? []).map(of('forward')), ...(parts === 'both' ? (op.gradientParts?.(p) ?? []).map(of('backward')) : [])]
}
