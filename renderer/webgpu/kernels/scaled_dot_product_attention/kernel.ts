import { CaseError } from '@core/backend'
import { step } from '../../wgsl/header'
import { dimOf, type Kernel } from '../types'
import { fewAttention, isFew, keysSeen } from './few'
import { fillsShared, sharedKeys } from './shared-keys'
import { isShort, shortAttention } from './short'
import { TILE, tiledText } from './tiled'

/** More would not stay in registers. */
const MAX_HEAD_DIM = 512

/** Queries of a head below which a tile of tiled.ts would stand nearly empty, and tiles of a head that all count where the last is not whole. */
const FEW_QUERIES = 32
const FEW_TILES = 8

const kernel: Kernel = {
  dtypes: ['f32', 'f16'],
  build: (shape) => {
    const [batch, heads, kvHeads, seqQ, seqK, headDim] = [dimOf(shape, 0), dimOf(shape, 1), dimOf(shape, 2), dimOf(shape, 3), dimOf(shape, 4), dimOf(shape, 5)]
    if (headDim > MAX_HEAD_DIM) throw new CaseError('unsupported', `The WGSL attention kernel takes heads of at most ${MAX_HEAD_DIM}; this case has ${headDim}.`)
    const dtype = shape.dtype === 'f16' ? 'f16' : 'f32'
    const [causal, scale] = [dimOf(shape, 6) === 1, 1 / Math.sqrt(headDim)]
    const few = { dtype, batch, heads, kvHeads, seqQ, seqK, headDim, causal, scale } as const
    const queries = batch * heads * seqQ
    if (isShort(queries, keysSeen(few), headDim)) return shortAttention(dtype, queries, [seqQ, seqK, heads, kvHeads, headDim], causal, scale)
    if (seqQ < FEW_QUERIES) return (fillsShared(few) ? sharedKeys : fewAttention)(few, shape)
    const tiles = Math.ceil(seqQ / TILE)
    if (isFew(few, batch * heads * tiles)) return fewAttention(few, shape)
    const partial = causal || (tiles <= FEW_TILES && (seqQ % TILE > 0 || seqK % TILE > 0))
    return { scratchBytes: [], steps: [step(tiledText(dtype, headDim, causal, partial), [{ input: 0 }, { input: 1 }, { input: 2 }, 'output'], [seqQ, seqK, tiles, batch * heads, heads, kvHeads], batch * heads * tiles, [scale])] }
  },
}
export default kernel
