import { THREADS, WORKGROUP_BYTES } from '../../../wgsl/header'
import { areFaster, type PaddedCopy } from '../../../wgsl/matrices/padded'
import { elementsOf, strideOf, VECTOR_BYTES } from '../../../wgsl/matrices/tile'
import { matricesOf } from '../../../wgsl/matrices/words'
import type { DeviceLimits, SubgroupMatrices } from '../../types'
import { keysSeen, type FewAttention } from '../few'
import type { TileParts } from '../tile-place'

/** Longer heads leave no registers. */
const MAX_HEAD_DIM = 256
/** Sides of products that every tile is made of. */
const SIDE = 16
/** Keys in workgroup memory at a time. */
const KEYS = 32
/** Workgroups from which on a tile of more queries is faster than more workgroups, and the share of its queries that may be missing. */
const FILLED = 128
const MAX_EMPTY = 0.3
/** Heads whose sums leave registers for twice the queries. */
const SHORT_HEAD = 64
/** Workgroups of parts; keys that are worth a workgroup of their own and the pass that joins it; workgroups of small tiles from which on they are worth it only of many keys. */
const FILLED_BY_PARTS = 264
const MIN_KEYS = { of: 128, beyond: 66, then: 1024 }

/** Multiply-adds that take the unit in which the time of products is given. */
const UNIT = 30

/** Subgroups of a workgroup and queries of each. */
export interface MatrixTile {
  subgroups: number
  rows: number
}
const LARGE: MatrixTile = { subgroups: 8, rows: 32 }
const MEDIUM: MatrixTile = { subgroups: 8, rows: 16 }
const SMALL: MatrixTile = { subgroups: 4, rows: 16 }

/**
 * `depth`: elements of a head with those that fill its last product. `row`: elements from one row of keys or values to the next; those of heads that do not fill it are `copies` where these are faster.
 * `apart`: whether values have memory of their own, rather than that of the keys.
 */
export interface MatrixPlan extends MatrixTile, TileParts {
  matrices: SubgroupMatrices
  lanes: number
  keys: number
  depth: number
  row: number
  copies: readonly PaddedCopy[]
  apart: boolean
}

const queriesOf = ({ subgroups, rows }: MatrixTile): number => subgroups * rows

/** The tiles that suit a case, the most queries first; causal tiles of many queries see keys in vain. */
function tilesFor({ batch, heads, seqQ, headDim, causal }: FewAttention): readonly MatrixTile[] {
  const suits = (tile: MatrixTile) => {
    const tiles = Math.ceil(seqQ / queriesOf(tile))
    return batch * heads * tiles >= FILLED && tiles * queriesOf(tile) * (1 - MAX_EMPTY) <= seqQ
  }
  const larger = headDim > SHORT_HEAD ? [MEDIUM] : causal ? [] : [LARGE, MEDIUM]
  return [...larger.filter(suits), SMALL]
}

/** Keys and values with zeros behind their rows, where these do not fill their last product and copies are faster. */
function copiesFor(of: FewAttention, depth: number): readonly PaddedCopy[] {
  const { batch, heads, kvHeads, seqQ, seqK, headDim, causal } = of
  const copies = [1, 2].map((input) => ({ input, rows: batch * kvHeads * seqK, length: headDim, vectors: depth / elementsOf('f16') }))
  const products = 2 * batch * heads * seqQ * keysSeen(of) * depth * (causal ? 0.5 : 1)
  return headDim < depth && areFaster(copies, products / UNIT) ? copies : []
}

/** The largest tile that suits the case and that the device has threads and memory for. Undefined where it has no products of f16, or too little of either. */
export function planMatrices(of: FewAttention, device: DeviceLimits): MatrixPlan | undefined {
  const { dtype, batch, heads, seqQ, headDim } = of
  const matrices = matricesOf(device, 'f16', { m: SIDE, n: SIDE, k: SIDE })
  const lanes = device.subgroups
  if (dtype !== 'f16' || matrices?.result !== 'f32' || lanes === undefined || headDim > MAX_HEAD_DIM) return undefined
  const depth = Math.ceil(headDim / SIDE) * SIDE
  const memory = device.workgroupBytes ?? WORKGROUP_BYTES
  const bytes = (tile: MatrixTile, copies: number) => VECTOR_BYTES * (copies * KEYS * strideOf(depth / 8) + queriesOf(tile) * strideOf(KEYS / 4)) + 4 * (queriesOf(tile) + 1)
  // Threads that share a row have keys of whole products.
  const fits = (tile: MatrixTile) => lanes >= tile.rows && KEYS % ((lanes / tile.rows) * SIDE) === 0 && lanes * tile.subgroups <= Math.max(THREADS, device.threads ?? 0) && bytes(tile, 1) <= memory
  const tile = tilesFor(of).find(fits)
  if (!tile) return undefined
  const tiles = Math.ceil(seqQ / queriesOf(tile))
  const ofKeys = Math.ceil(keysSeen(of) / KEYS)
  const groups = batch * heads * tiles
  // Larger tiles are many, and their parts take longer to write than they save.
  const wanted = tile === SMALL ? Math.max(1, Math.min(Math.floor(FILLED_BY_PARTS / groups), Math.floor((ofKeys * KEYS) / (groups > MIN_KEYS.beyond ? MIN_KEYS.then : MIN_KEYS.of)))) : 1
  const each = Math.ceil(ofKeys / wanted)
  const copies = copiesFor(of, depth)
  return { ...tile, matrices, lanes, keys: KEYS, depth, row: copies.length > 0 ? depth : headDim, copies, apart: bytes(tile, 2) <= memory, tiles, parts: Math.ceil(ofKeys / each), perPart: each * KEYS }
}
