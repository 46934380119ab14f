import { CaseError } from '@core/backend'
import { withCopies } from '../../wgsl/matrices/padded'
import { dimOf, type Kernel } from '../types'
import { planMatrices } from './matrices/plan'
import { matrixText } from './matrices/text'
import { fewAttention, isFew, keysSeen } from './few'
import { isOwnQuery, ownQuery } from './own-query'
import { fillsShared, sharedKeys } from './shared-keys'
import { isShort, shortAttention } from './short'
import { planSpreadKeys, spreadKeys } from './spread-keys'
import { planSplitQuery, planWholeQuery, splitQuery } from './split-query'
import { planTallTiles, tallTiles } from './tall-tiles'
import { tileProgram } from './tile-place'
import { planTiles, tiledAttention, tilesOf } from './tiled'

/** More would not stay in registers. */
const MAX_HEAD_DIM = 512

/** Queries of a head below which a tile of tiled.ts would stand nearly empty. */
const FEW_QUERIES = 32
/** Tiles that leave most of a device idle, and keys that workgroups of fewer queries then take in less time. */
const FEW_TILES = 66
const SHORT = 512
/** Keys up to which these are faster than few tiles by matrices; heads of HALF_HEAD are so for more tiles, of any number of keys. */
const SHORT_FOR_MATRICES = 256
/** Heads that fill half of a tile's columns of values or less, and those that fill little more. */
const HALF_HEAD = 32
const ODD_HEAD = 40
/** Queries of heads that share keys, and their keys, that threads of a subgroup share. */
const FEWER_QUERIES = 16
const FEW_KEYS = 64

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
    const whole = planWholeQuery(few, shape)
    if (whole) return splitQuery(few, whole)
    if (isShort(queries, keysSeen(few), headDim)) return shortAttention(dtype, queries, [seqQ, seqK, heads, kvHeads, headDim], causal, scale)
    const tiles = batch * heads * tilesOf(seqQ)
    const isIdle = tiles <= FEW_TILES && keysSeen(few) <= SHORT && !isFew(few)
    const isForMatrices = seqQ >= FEW_QUERIES && !isFew(few) && !(tiles <= FEW_TILES && keysSeen(few) <= SHORT_FOR_MATRICES) && !(tiles <= 2 * FEW_TILES && headDim <= HALF_HEAD)
    const matrices = isForMatrices ? planMatrices(few, shape) : undefined
    if (matrices) return withCopies('f16', tileProgram(few, matrices, matrixText(matrices, headDim, causal), shape), matrices.copies)
    // Queries of tiles that would leave a device idle, be cut into parts or stand half empty.
    const isSpread = seqQ >= FEW_QUERIES && !isFew(few) && ((isIdle && headDim <= HALF_HEAD) || (tiles > FEW_TILES && planTiles(few).parts > 1) || (headDim > HALF_HEAD && headDim <= ODD_HEAD))
    const spread = isSpread ? planSpreadKeys(few, shape) : undefined
    if (spread) return spreadKeys(few, spread)
    const split = seqQ < FEWER_QUERIES && ownQueries < seqQ && keysSeen(few) <= FEW_KEYS ? planSplitQuery(few, shape) : undefined
    if (split) return splitQuery(few, split)
    if (seqQ < FEW_QUERIES || isIdle) return (fillsShared(few) ? sharedKeys : fewAttention)(few, shape)
    if (isFew(few)) return fewAttention(few, shape)
    const tall = planTallTiles(few, shape)
    return tall ? tallTiles(few, tall, shape) : tiledAttention(few, shape)
  },
}
export default kernel
