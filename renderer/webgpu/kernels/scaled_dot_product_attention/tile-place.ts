import { numbers, step } from '../../wgsl/header'
import type { KernelShape, Program } from '../types'
import { joinStep, type FewAttention } from './few'

/** Tiles of queries of each head, and the parts of the keys that each tile has, of `perPart` keys. */
export interface TileParts {
  tiles: number
  parts: number
  perPart: number
}

/** Attention by tiles: a workgroup has a tile, or a part of its keys; a second step joins parts. */
export function tileProgram(of: FewAttention, { tiles, parts, perPart }: TileParts, wgsl: string, device: Pick<KernelShape, 'subgroups'>): Program {
  const { dtype, batch, heads, kvHeads, seqQ, seqK, headDim, scale } = of
  const split = parts > 1
  const first = step(wgsl, [...numbers(3).map((input) => ({ input })), split ? { scratch: 0 } : 'output'], [seqQ, seqK, tiles, batch * heads, heads, kvHeads, parts, perPart], batch * heads * tiles * parts, [scale])
  if (!split) return { scratchBytes: [], steps: [first] }
  const queries = batch * heads * seqQ
  return { scratchBytes: [4 * queries * parts * (headDim + 2)], steps: [first, joinStep(dtype, headDim, queries, parts, device)] }
}

/** The tiles that begin first: those of the first queries, or those of the last, which see the most keys where attention is causal, of each head or of all heads. */
const ORDERS = {
  first: { head: 'tile / tiles', place: 'tile % tiles' },
  last: { head: 'tile / tiles', place: '(tiles - 1u - tile % tiles)' },
  'last of all heads': { head: 'tile % dim(3u)', place: '(tiles - 1u - tile / dim(3u))' },
} as const

/** WGSL at the start of a workgroup: where its tile of `queries` queries, its keys and its part of them begin. dims: queries, keys, tiles of queries, heads in all, heads and key heads of a batch, parts, keys of a part. */
export const tilePlace = (queries: number, order: keyof typeof ORDERS, split: boolean): string => `  let seq_q = dim(0u);
  let seq_k = dim(1u);
  let tiles = dim(2u);
  let tile = ${split ? 'group / dim(6u)' : 'group'};
${split ? '  let part = group % dim(6u);\n' : ''}  if (tile >= tiles * dim(3u)) { return; }
  let head = ${ORDERS[order].head};
  let first_query = ${ORDERS[order].place} * ${queries}u;
  let q_base = head * seq_q;
  let k_base = (head / dim(4u) * dim(5u) + head % dim(4u) / (dim(4u) / dim(5u))) * seq_k;`
