import { numbers, step } from '../../../wgsl/header'
import type { DeviceLimits, Program } from '../../types'
import { joinStep, type FewAttention } from '../few'
import type { MatrixPlan } from './plan'
import { matrixText } from './text'

/** Attention of many queries by matrices of subgroups. */
export function byMatrices(of: FewAttention, plan: MatrixPlan, device: DeviceLimits): Program {
  const { dtype, batch, heads, kvHeads, seqQ, seqK, headDim, causal, scale } = of
  const { tiles, parts, perPart } = plan
  const split = parts > 1
  const first = step(matrixText(plan, headDim, causal), [...numbers(3).map((input) => ({ input })), split ? { scratch: 0 } : 'output'], [seqQ, seqK, tiles, batch * heads, heads, kvHeads, parts, perPart], batch * heads * tiles * parts, [scale])
  if (!split) return { scratchBytes: [], steps: [first] }
  const queries = batch * heads * seqQ
  return { scratchBytes: [4 * queries * parts * (headDim + 2)], steps: [first, joinStep(dtype, headDim, queries, parts, device)] }
}
