import { numbers, step, WORKGROUP_BYTES } from '../../../wgsl/header'
import { VECTOR_BYTES } from '../../../wgsl/matrix-tile'
import { matricesOf } from '../../../wgsl/subgroup-matrix'
import type { DeviceLimits, Program, SubgroupMatrices } from '../../types'
import { joinStep, keysSeen, type FewAttention } from '../few'
import { matrixText } from './text'

/** Longer heads leave no registers. */
const MAX_HEAD_DIM = 256
/** Sides of the products that tiles are made of. */
const SIDE = 16
/** Workgroups that fill a device, and keys that are worth a workgroup of their own and the pass that joins it. */
const FILLED = 264
const MIN_KEYS = 128

/** Tiles of a workgroup: subgroups, queries of each, and the keys that all of them have in workgroup memory at a time. */
export interface MatrixTiles {
  subgroups: number
  rows: number
  keys: number
  /** Subgroups that share queries: each has the scores of some of the keys and the sums of some columns; 1 where absent. */
  spread?: 1 | 2
  /** Columns of a product; 16 where absent. */
  n?: number
}

/** `apart`: whether values have memory of their own, rather than that of the keys. `depth`: elements of a head with those that fill its last product. */
export interface MatrixPlan extends Required<Omit<MatrixTiles, 'n'>> {
  matrices: SubgroupMatrices
  lanes: number
  depth: number
  apart: boolean
  tiles: number
  parts: number
  perPart: number
}

const n = 8
const SHORT_HEADS: readonly MatrixTiles[] = [
  { subgroups: 8, rows: 32, keys: 32 },
  { subgroups: 8, rows: 32, keys: 32, n },
  { subgroups: 8, rows: 32, keys: 32, spread: 2, n },
  { subgroups: 16, rows: 16, keys: 32, n },
  { subgroups: 8, rows: 16, keys: 32, n },
  { subgroups: 16, rows: 32, keys: 32, spread: 2, n },
  { subgroups: 4, rows: 16, keys: 32, n },
]
const HEADS: readonly MatrixTiles[] = [
  { subgroups: 8, rows: 32, keys: 32, spread: 2 },
  { subgroups: 8, rows: 32, keys: 32, spread: 2, n },
  { subgroups: 8, rows: 16, keys: 32, n },
  { subgroups: 16, rows: 16, keys: 32, n },
  { subgroups: 16, rows: 32, keys: 32, spread: 2, n },
  { subgroups: 4, rows: 16, keys: 32, n },
  { subgroups: 4, rows: 32, keys: 64, spread: 2, n },
]
const LONG_HEADS: readonly MatrixTiles[] = [
  { subgroups: 4, rows: 16, keys: 32 },
  { subgroups: 4, rows: 16, keys: 32, n },
  { subgroups: 8, rows: 16, keys: 32, n },
  { subgroups: 8, rows: 16, keys: 32 },
]

/** Undefined where the device has no such products or too little memory. */
export function planMatrices(of: FewAttention, device: DeviceLimits): MatrixPlan | undefined {
  const variant = (8 - (of.seqK % 8)) % 8
  if (variant === 7) return undefined
  const variants = of.headDim <= 64 ? SHORT_HEADS : of.headDim <= 128 ? HEADS : LONG_HEADS
  return [variants[variant] ?? variants[0]!, LONG_HEADS[0]!].flatMap((tiles) => planOf(of, device, tiles) ?? [])[0]
}

export function planOf(of: FewAttention, device: DeviceLimits, tiles: MatrixTiles): MatrixPlan | undefined {
  const { dtype, batch, heads, seqQ, headDim } = of
  const matrices = matricesOf(device, 'f16', { m: SIDE, n: tiles.n ?? SIDE, k: SIDE })
  const lanes = device.subgroups
  const { spread = 1 } = tiles
  const queries = (tiles.rows * tiles.subgroups) / spread
  if (dtype !== 'f16' || !matrices || matrices.result !== 'f32' || lanes === undefined || headDim > MAX_HEAD_DIM) return undefined
  // Threads that share a row have keys of whole products.
  if (lanes < tiles.rows || tiles.keys % ((lanes / tiles.rows) * spread * SIDE) > 0 || lanes * tiles.subgroups > (device.threads ?? 256)) return undefined
  const depth = Math.ceil(headDim / (SIDE * spread)) * SIDE * spread
  const tile = tiles.keys * (depth / 8 + spread)
  const scores = queries * (tiles.keys / 4 + 1)
  const bytes = (copies: number) => VECTOR_BYTES * (copies * tile + scores) + 4 * (tiles.rows * tiles.subgroups + 1)
  const memory = device.workgroupBytes ?? WORKGROUP_BYTES
  if (bytes(1) > memory) return undefined
  const ofQueries = Math.ceil(seqQ / queries)
  const ofKeys = Math.ceil(keysSeen(of) / tiles.keys)
  const wanted = Math.max(1, Math.min(Math.floor(FILLED / (batch * heads * ofQueries)), Math.floor((ofKeys * tiles.keys) / MIN_KEYS)))
  const each = Math.ceil(ofKeys / wanted)
  return { ...tiles, spread, apart: bytes(2) <= memory, matrices, lanes, depth, tiles: ofQueries, parts: Math.ceil(ofKeys / each), perPart: each * tiles.keys }
}

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
