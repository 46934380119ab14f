import { CaseError } from '@core/backend'
import { dimOf, type Kernel } from '../types'
import { fewAttention, isFew, keysSeen } from './few'
import { isOwnQuery, ownQuery } from './own-query'
import { fillsShared, sharedKeys } from './shared-keys'
import { isShort, shortAttention } from './short'
import { tiledAttention, tilesOf } from './tiled'

/** More would not stay in registers. */
const MAX_HEAD_DIM = 512

/** Queries of a head below which a tile of tiled.ts would stand nearly empty. */
const FEW_QUERIES = 32
/** Tiles that leave most of a device idle, and keys that workgroups of fewer queries then take in less time. */
const FEW_TILES = 66
const SHORT = 512

const kernel: Kernel = {
  dtypes: ['f32', 'f16'],
  build: (shape) => {
    const [batch, allHeads, kvHeads, ownQueries, seqK, headDim] = [dimOf(shape, 0), dimOf(shape, 1), dimOf(shape, 2), dimOf(shape, 3), dimOf(shape, 4), dimOf(shape, 5)]
    // Queries of heads that share keys lie behind each other: where all see all keys, they are those of one head.
    const [heads, seqQ] = dimOf(shape, 6) === 1 ? [allHeads, ownQueries] : [kvHeads, (allHeads / kvHeads) * ownQueries]
    if (headDim > MAX_HEAD_DIM) throw new CaseError('unsupported', `The WGSL attention kernel takes heads of at most ${MAX_HEAD_DIM}; this case has ${headDim}.`)
    const dtype = shape.dtype === 'f16' ? 'f16' : 'f32'
    const [causal, scale] = [dimOf(shape, 6) === 1, 1 / Math.sqrt(headDim)]
    const few = { dtype, batch, heads, kvHeads, seqQ, seqK, headDim, causal, scale } as const
    const queries = batch * heads * seqQ
    if (isOwnQuery(few)) return ownQuery(few)
    if (isShort(queries, keysSeen(few), headDim)) return shortAttention(dtype, queries, [seqQ, seqK, heads, kvHeads, headDim], causal, scale)
    const isIdle = batch * heads * tilesOf(seqQ) <= FEW_TILES && keysSeen(few) <= SHORT && !isFew(few)
    if (seqQ < FEW_QUERIES || isIdle) return (fillsShared(few) ? sharedKeys : fewAttention)(few, shape)
    return isFew(few) ? fewAttention(few, shape) : tiledAttention(few, shape)
  },
}
export default kernel
