import { entry, header, storage, widthFor } from '../../wgsl/header'
import type { KernelShape, Program } from '../types'
import type { FewAttention } from './few'
import { tilePlace, tileProgram, type TileParts } from './tile-place'

/** Queries and keys of a tile: a thread has 4x4 scores of it, and of four queries every 64th four elements of the result. */
const TILE = 64
const SIDE = 16
/** Elements of queries and keys that threads bring into workgroup memory together, those that lie there at a time, where a head's are no more beyond its end for that, and groups of four of them whose products are written out. */
const BROUGHT = 16
const MOST_DEPTH = 32
const depthOf = (headDim: number): number => (Math.ceil(headDim / MOST_DEPTH) * MOST_DEPTH === Math.ceil(headDim / BROUGHT) * BROUGHT ? MOST_DEPTH : BROUGHT)
const WRITTEN_OUT = 2
/** Keys whose values are on their way together, and those of longer heads, whose values would leave no registers. */
const TOGETHER = 16
const TOGETHER_OF_LONG = 4
const QUADS = [0, 1, 2, 3]

/** Tiles of a head that all count where the last is not whole. */
const FEW_TILES = 8
/** Workgroups that fill a device, and tiles of keys that are worth a workgroup of their own and the pass that joins it. */
const FILLED = 528
const LEAST_TILES = 2
/** Workgroups below which each part is a tile of keys: most of a device would be idle. */
const ONE_EACH = 132

/** Tiles of so many queries. */
export const tilesOf = (queries: number): number => Math.ceil(queries / TILE)

/** Tiles of queries of each head, and the parts of the keys that each has, in whole tiles: several where a device would be idle. */
export function planTiles({ batch, heads, seqQ, seqK, causal }: Pick<FewAttention, 'batch' | 'heads' | 'seqQ' | 'seqK' | 'causal'>): TileParts {
  const tiles = tilesOf(seqQ)
  const ofKeys = Math.ceil((causal ? Math.min(seqK, seqQ) : seqK) / TILE)
  const partsOf = (least: number) => Math.max(1, Math.min(Math.floor(FILLED / (batch * heads * tiles)), Math.floor(ofKeys / least)))
  const longer = partsOf(LEAST_TILES)
  const wanted = longer > 1 && batch * heads * tiles * longer < ONE_EACH ? partsOf(1) : longer
  const each = Math.ceil(ofKeys / wanted)
  return { tiles, parts: Math.ceil(ofKeys / each), perPart: each * TILE }
}

/** Attention of many queries, by tiles. */
export function tiledAttention(of: FewAttention, device: Pick<KernelShape, 'subgroups'>): Program {
  const { dtype, seqQ, seqK, headDim, causal } = of
  const plan = planTiles(of)
  const partial = causal || (plan.tiles <= FEW_TILES && (seqQ % TILE > 0 || seqK % TILE > 0))
  return tileProgram(of, plan, tiledText(dtype, headDim, causal, partial, plan.parts > 1, !causal && seqK % TILE === 0, device.subgroups), device)
}

/** Rows of SIDE vectors in workgroup memory (16 KiB): the queries and, so far behind them as they are deep, the keys; then, behind both where there is room, the parts of the largest score; then the weights of a tile, which a thread writes where those of its neighbours are in other banks. */
const ROWS = TILE

/** Four elements of a row from `d` on, 0 beyond its end; rows are clamped. */
const loader = (name: string, width: 1 | 4, whole: boolean) =>
  `fn load_${name}(row: u32, d: u32) -> vec4<f32> {
  ${width === 4
    ? whole ? `return vec4<f32>(${name}[(row * head_dim + d) / 4u]);` : `return select(vec4<f32>(0.0), vec4<f32>(${name}[(row * head_dim + min(d, head_dim - 4u)) / 4u]), d < head_dim);`
    : `let at = row * head_dim;\n  return vec4<f32>(${QUADS.map((j) => `select(0.0, f32(${name}[at + min(d + ${j}u, head_dim - 1u)]), d + ${j}u < head_dim)`).join(', ')});`}
}
`

/**
 * Softmax over the keys in one pass, tile after tile, rescaling what was added up when a larger score comes (Dao et al. 2022,
 * FlashAttention). Workgroup memory is nested by four rows: the checks of indices that a browser adds are needed once for these. `whole`: every tile has all of its keys, which all queries see. `partial`: heads of a few tiles that are not all seen whole, where
 * threads whose queries lie behind the last one only bring rows; long ones lose more by loops of unknown length (2048 queries and keys on an H100: 2.86 ms, 2.68 without). `split`: several workgroups have parts of the keys of a tile, which `joinStep` of few.ts joins.
 */
function tiledText(dtype: 'f32' | 'f16', headDim: number, causal: boolean, partial: boolean, split: boolean, whole: boolean, subgroups?: number): string {
  const width = widthFor(headDim)
  const depth = depthOf(headDim)
  const partsAt = 2 * depth % ROWS
  const shuffles = subgroups !== undefined && subgroups >= SIDE
  // Threads beside each other have vectors of values of different keys where a row has few of them.
  const shares = headDim <= TILE / 4 ? 4 : headDim <= TILE / 2 ? 2 : 1
  const wide = SIDE / shares
  const brought = Array.from({ length: depth / BROUGHT }, (_, b) => b * BROUGHT)
  const type = storage(dtype, width)
  const columns = Array.from({ length: Math.ceil(headDim / TILE) }, (_, c) => c)
  const together = Array.from({ length: columns.length <= 2 ? TOGETHER : TOGETHER_OF_LONG }, (_, u) => u)
  const each = (line: (c: number, i: number) => string) => columns.flatMap((c) => QUADS.map((i) => line(c, i))).join('\n')
  const written = (i: number) => (width === 4
    ? columns.map((c) => `{ let d = ${c * TILE}u + 4u * x; if (d < head_dim) { out[(row * head_dim + d) / 4u] = ${type}(sum_${c}_${i} * inverse); } }`)
    : columns.flatMap((c) => QUADS.map((j) => `{ let d = ${c * TILE + j}u + 4u * x; if (d < head_dim) { out[row * head_dim + d] = ${type}(sum_${c}_${i}[${j}] * inverse); } }`))).join(' ')
  // What each part leaves of a query: its largest score, the sum of its weights, and the weighted values.
  const left = (i: number) => `let to = (row * dim(6u) + part) * (head_dim + 2u); if (x == 0u) { out[to] = top[${i}] * ${Math.LN2}; out[to + 1u] = total[${i}]; } ${columns.flatMap((c) => QUADS.map((j) => `{ let d = ${c * TILE + j}u + 4u * x; if (d < head_dim) { out[to + 2u + d] = sum_${c}_${i}[${j}]; } }`)).join(' ')}`
  const visible = (j: number) => `vec4<bool>(${QUADS.map((i) => `first_key + 4u * x + ${j}u < seq_k${causal ? ` && first_key + 4u * x + ${j}u <= query + ${i}u` : ''}`).join(', ')})`
  return `${header([{ name: 'q', type }, { name: 'k', type }, { name: 'v', type }, { name: 'out', type: split ? 'f32' : type, write: true }], dtype === 'f16', shuffles)}
const head_dim = ${headDim}u;
var<workgroup> memory: array<array<array<vec4<f32>, ${SIDE}>, 4>, ${ROWS / 4}>;
${loader('q', width, headDim % depth === 0)}${loader('k', width, headDim % depth === 0)}fn load_v(row: u32, d: u32) -> vec4<f32> {
  return ${width === 4 ? 'vec4<f32>(v[(row * head_dim + d) / 4u])' : `vec4<f32>(${QUADS.map((j) => `f32(v[row * head_dim + min(d + ${j}u, head_dim - 1u)])`).join(', ')})`};
}
${entry(`${tilePlace(TILE, 'first', split)}
  let y = lane / ${SIDE}u;
  let x = lane % ${SIDE}u;
  let query = first_query + 4u * y;
  // A thread brings four elements of a row, which are turned over on their way into workgroup memory.
  let bring_row = lane / 4u;
  let bring = lane % 4u * 4u;
${shares > 1 ? `  let own_x = x % ${wide}u;
  let share = x / ${wide}u;
` : ''}${columns.map((c) => `  let value_${c} = ${headDim % (4 * wide) === 0 ? '' : 'min('}${c * TILE}u + 4u * ${shares > 1 ? 'own_x' : 'x'}${headDim % (4 * wide) === 0 ? '' : `, ${width === 4 ? headDim - 4 : headDim - 1}u)`};`).join('\n')}
  let query_row = q_base + min(first_query + bring_row, seq_q - 1u);
${partial ? '  let has_queries = query < seq_q;\n' : ''}  var top = vec4<f32>(-1e30);
  var total = vec4<f32>(0.0);
${each((c, i) => `  var sum_${c}_${i} = vec4<f32>(0.0);`)}
  let all_seen = ${causal ? `min(seq_k, first_query + ${TILE}u)` : 'seq_k'};
  let seen = ${split ? 'min(all_seen, (part + 1u) * dim(7u))' : 'all_seen'};
  for (var first_key = ${split ? 'part * dim(7u)' : '0u'}; first_key < seen; first_key += ${TILE}u) {
    let key_row = k_base + min(first_key + bring_row, seq_k - 1u);
${QUADS.map((j) => `    var score_${j} = vec4<f32>(0.0);`).join('\n')}
    for (var at = 0u; at < head_dim; at += ${depth}u) {
${brought.map((b) => `      let of_query_${b} = load_q(query_row, at + ${b}u + bring); let of_key_${b} = load_k(key_row, at + ${b}u + bring);`).join('\n')}
      workgroupBarrier();
${brought.flatMap((b) => QUADS.map((j) => `      memory[bring / 4u + ${b / 4}u][${j}u][bring_row / 4u][bring_row % 4u] = of_query_${b}[${j}]; memory[bring / 4u + ${(depth + b) / 4}u][${j}u][bring_row / 4u][bring_row % 4u] = of_key_${b}[${j}];`)).join('\n')}
      workgroupBarrier();
      for (var l = 0u; l < ${partial ? `select(0u, ${depth / 4}u, has_queries)` : `${depth / 4}u`}; l += ${WRITTEN_OUT}u) {
${Array.from({ length: WRITTEN_OUT }, (_, l) => l).flatMap((l) => QUADS.map((e) => `        { let queries = memory[l + ${l}u][${e}u][y]; let keys = memory[l + ${depth / 4 + l}u][${e}u][x]; ${QUADS.map((j) => `score_${j} = fma(queries, vec4<f32>(keys[${j}]), score_${j});`).join(' ')} }`)).join('\n')}
      }
    }
${whole ? QUADS.map((j) => `    score_${j} *= scalar(0u) * ${Math.LOG2E};`).join('\n') : QUADS.map((j) => `    let visible_${j} = ${visible(j)}; score_${j} = select(vec4<f32>(-1e30), score_${j} * (scalar(0u) * ${Math.LOG2E}), visible_${j});`).join('\n')}
${shuffles ? `    var next = max(max(score_0, score_1), max(score_2, score_3));
${[1, 2, 4, 8].map((stride) => `    next = max(next, subgroupShuffleXor(next, ${stride}u));`).join('\n')}
    next = max(next, top);
` : `${partsAt === 0 ? '    workgroupBarrier();\n' : ''}    memory[${partsAt / 4}u + y / 4u][y % 4u][x] = max(max(score_0, score_1), max(score_2, score_3));
    workgroupBarrier();
    var next = top;
    for (var j = 0u; j < ${SIDE}u; j++) { next = max(next, memory[${partsAt / 4}u + y / 4u][y % 4u][j]); }
`}    let kept = exp2(top - next);
    top = next;
${QUADS.map((j) => `    score_${j} = ${whole ? `exp2(score_${j} - next)` : `select(vec4<f32>(0.0), exp2(score_${j} - next), visible_${j})`};`).join('\n')}
    total = fma(total, kept, (score_0 + score_1) + (score_2 + score_3));
    let from_key = ${shares > 1 ? `share * ${TILE / shares}u` : '0u'};
${partial ? `    // Keys that none of the thread's queries sees have no weight.
    let all_weighed = select(0u, min(${TILE}u, ${causal ? `min(seq_k, query + ${QUADS.length}u)` : 'seq_k'} - first_key), has_queries);
    let weighed = min(all_weighed, from_key + ${TILE / shares}u);
` : `    let weighed = from_key + ${TILE / shares}u;
`}    workgroupBarrier();
    // Threads beside each other write to different banks.
${QUADS.map((j) => `    memory[x][${j}u][y ^ x] = score_${j};`).join('\n')}
    workgroupBarrier();
${each((c, i) => `    sum_${c}_${i} *= kept[${i}];`)}
    for (var j = from_key; j < weighed; j += ${together.length}u) {
      let turn = j / 4u;
${together.map((u) => `      let row_${u} = k_base + min(first_key + j + ${u}u, seq_k - 1u); ${columns.map((c) => `let v_${u}_${c} = load_v(row_${u}, value_${c});`).join(' ')}`).join('\n')}
${together.map((u) => `      { let weight = memory[turn + ${Math.floor(u / 4)}u][${u % 4}u][y ^ (turn + ${Math.floor(u / 4)}u)]; ${each((c, i) => `sum_${c}_${i} = fma(vec4<f32>(weight[${i}]), v_${u}_${c}, sum_${c}_${i});`).replaceAll('\n', ' ')} }`).join('\n')}
    }
  }
  workgroupBarrier();
  memory[y / 4u][y % 4u][x] = total;
  workgroupBarrier();
  total = memory[y / 4u][y % 4u][0];
  for (var j = 1u; j < ${SIDE}u; j++) { total += memory[y / 4u][y % 4u][j]; }
${shares > 1 ? `  workgroupBarrier();
${QUADS.map((i) => `  memory[y][${i}u][x] = sum_0_${i};`).join('\n')}
  workgroupBarrier();
${QUADS.map((i) => `  sum_0_${i} = ${Array.from({ length: shares }, (_, h) => `memory[y][${i}u][own_x + ${h * wide}u]`).join(' + ')};`).join('\n')}
` : ''}${QUADS.map((i) => `  if (query + ${i}u < seq_q) { let row = q_base + query + ${i}u; ${split ? left(i) : `let inverse = 1.0 / total[${i}]; ${written(i)}`} }`).join('\n')}`)}`
}
