import { numbers, step } from '../../../wgsl/header'
import { areFaster, withCopies, type PaddedCopy } from '../../../wgsl/matrices/padded'
import { elementsOf } from '../../../wgsl/matrices/tile'
import type { DeviceLimits, Program } from '../../types'
import { joinStep, keysSeen, type FewAttention } from '../few'
import type { MatrixPlan } from './plan'
import { matrixText } from './text'

/** Multiply-adds of the kernel that take the unit in which the time of products is given. */
const UNIT = 88

/** Keys and values whose rows do not fill their last product are copied, with zeros behind them, where that saves more than it takes. */
function copiesFor(of: FewAttention, depth: number): readonly PaddedCopy[] {
  const { batch, heads, kvHeads, seqQ, seqK, headDim, causal } = of
  const copies = [1, 2].map((input) => ({ input, rows: batch * kvHeads * seqK, length: headDim, vectors: depth / elementsOf('f16') }))
  const products = 2 * batch * heads * seqQ * keysSeen(of) * depth * (causal ? 0.5 : 1)
  return headDim < depth && areFaster(copies, products / UNIT) ? copies : []
}

/** Attention of many queries by matrices of subgroups. */
export function byMatrices(of: FewAttention, plan: MatrixPlan, device: DeviceLimits): Program {
  const { dtype, batch, heads, kvHeads, seqQ, seqK, headDim, causal, scale } = of
  const { tiles, parts, perPart, depth } = plan
  const copies = copiesFor(of, depth)
  const text = matrixText(copies.length > 0 ? { ...plan, row: depth } : plan, headDim, causal)
  const split = parts > 1
  const first = step(text, [...numbers(3).map((input) => ({ input })), split ? { scratch: 0 } : 'output'], [seqQ, seqK, tiles, batch * heads, heads, kvHeads, parts, perPart], batch * heads * tiles * parts, [scale])
  if (!split) return withCopies('f16', { scratchBytes: [], steps: [first] }, copies)
  const queries = batch * heads * seqQ
  return withCopies('f16', { scratchBytes: [4 * queries * parts * (headDim + 2)], steps: [first, joinStep(dtype, headDim, queries, parts, device)] }, copies)
}
