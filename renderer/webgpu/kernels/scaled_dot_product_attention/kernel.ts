import { CaseError } from '@core/backend'
import { dimOf, type Kernel } from '../types'
import { fewAttention, isFew, keysSeen } from './few'
import { isOwnQuery, ownQuery } from './own-query'
import { fillsShared, sharedKeys } from './shared-keys'
import { isShort, shortAttention } from './short'
import { tiledAttention } from './tiled'

/** More would not stay in registers. */
const MAX_HEAD_DIM = 512

/** Queries of a head below which a tile of tiled.ts would stand nearly empty. */
const FEW_QUERIES = 32

const kernel: Kernel = {
  dtypes: ['f32', 'f16'],
  build: (shape) => {
    const [batch, heads, kvHeads, seqQ, seqK, headDim] = [dimOf(shape, 0), dimOf(shape, 1), dimOf(shape, 2), dimOf(shape, 3), dimOf(shape, 4), dimOf(shape, 5)]
    if (headDim > MAX_HEAD_DIM) throw new CaseError('unsupported', `The WGSL attention kernel takes heads of at most ${MAX_HEAD_DIM}; this case has ${headDim}.`)
    const dtype = shape.dtype === 'f16' ? 'f16' : 'f32'
    const [causal, scale] = [dimOf(shape, 6) === 1, 1 / Math.sqrt(headDim)]
    const few = { dtype, batch, heads, kvHeads, seqQ, seqK, headDim, causal, scale } as const
    const queries = batch * heads * seqQ
    if (isOwnQuery(few)) return ownQuery(few)
    if (isShort(queries, keysSeen(few), headDim)) return shortAttention(dtype, queries, [seqQ, seqK, heads, kvHeads, headDim], causal, scale)
    if (seqQ < FEW_QUERIES) return (fillsShared(few) ? sharedKeys : fewAttention)(few, shape)
    return isFew(few) ? fewAttention(few, shape) : tiledAttention(few, shape)
  },
}
export default kernel
