import type { DeviceLimits, Program } from '../types'
import type { FewAttention } from './few'
import { tileProgram } from './tile-place'
import { bytesOf, queriesOf, tileText, type Tile } from './tile-text'

/** Eight queries and four keys of a thread: 12 reads of workgroup memory for 128 multiply-adds, where four queries need 16 for as many. */
const TILE: Tile = { high: 8, wide: 16, rows: 2, keys: 1, depth: 32, weighed: 32, together: 4, written: 2 }
/** Heads whose values leave no thread idle and stay in registers: of the shorter, causal ones, where few tiles hide keys and those that see most begin first. Keys, and tiles that leave little of a device idle. */
const HEADS = { causal: 64, any: 128 }
const FEWEST_KEYS = 512
const FEWEST_TILES = 256

/** The tile where attention is by tall ones; undefined for other heads, few keys or tiles, and devices without the memory. */
export function planTallTiles({ dtype, batch, heads, seqQ, seqK, headDim, causal }: FewAttention, { workgroupBytes = 0 }: DeviceLimits): { tile: Tile; tiles: number } | undefined {
  const tiles = Math.ceil(seqQ / queriesOf(TILE))
  const isFast = headDim === HEADS.any || (causal && headDim === HEADS.causal)
  return dtype === 'f32' && isFast && seqK >= FEWEST_KEYS && batch * heads * tiles >= FEWEST_TILES && bytesOf(TILE) <= workgroupBytes ? { tile: TILE, tiles } : undefined
}

/** Attention of many queries, by tiles. */
export const tallTiles = (of: FewAttention, { tile, tiles }: { tile: Tile; tiles: number }, device: DeviceLimits): Program =>
  tileProgram(of, { tiles, parts: 1, perPart: of.seqK }, tileText(of, tile, device.subgroups), device)
