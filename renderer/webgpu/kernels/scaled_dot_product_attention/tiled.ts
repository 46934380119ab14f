import { entry, header, storage, widthFor } from '../../wgsl/header'

/** Queries and keys of a tile: a thread has 4x4 scores of it, and of four queries every 64th four elements of the result. */
export const TILE = 64
const SIDE = 16
/** Elements of queries and keys that lie in workgroup memory at a time: of keys more where the queries stay there for all keys. And those whose products are written out. */
const DEPTH = 16
const DEPTHS = [32, DEPTH]
const WRITTEN_OUT = 4
/** Keys whose values are on their way together, and those of longer heads, whose values would leave no registers. */
const TOGETHER = 8
const TOGETHER_OF_LONG = 4
const QUADS = [0, 1, 2, 3]
/** Workgroup memory of every adapter. */
const FLOOR_BYTES = 16_384

/** Bytes of SIDE vectors. */
const ROW_BYTES = 16 * SIDE

/**
 * Where rows of SIDE vectors lie in workgroup memory, one for each element of a head: queries, then keys and behind them the parts of the largest score, in whose place the
 * weights of a tile come, with all else where queries do not stay. Of each next four rows the vectors of queries, keys and weights are turned by two, so that threads that store
 * to different rows meet different banks.
 */
export interface TileRows {
  /** Whether the queries of the tile stay for all keys. */
  stay: boolean
  /** Elements of keys at a time. */
  depth: number
  keysAt: number
  partsAt: number
  weightsAt: number
  rows: number
}

/** Rows for heads of `headDim` in so many bytes of workgroup memory. */
export function tileRows(headDim: number, bytes: number): TileRows {
  const all = Math.ceil(headDim / DEPTH) * DEPTH
  const depth = DEPTHS.find((one) => all % one === 0)!
  if ((all + TILE) * ROW_BYTES <= bytes) return { stay: true, depth, keysAt: all, partsAt: all + depth, weightsAt: all, rows: all + TILE }
  return { stay: false, depth: DEPTH, keysAt: DEPTH, partsAt: 2 * DEPTH, weightsAt: 0, rows: TILE }
}

/** Four elements of a row from `d` on, 0 beyond its end; rows are clamped. */
const loader = (name: string, width: 1 | 4) =>
  `fn load_${name}(row: u32, d: u32) -> vec4<f32> {
  ${width === 4
    ? `return select(vec4<f32>(0.0), vec4<f32>(${name}[(row * head_dim + min(d, head_dim - 4u)) / 4u]), d < head_dim);`
    : `let at = row * head_dim;\n  return vec4<f32>(${QUADS.map((j) => `select(0.0, f32(${name}[at + min(d + ${j}u, head_dim - 1u)]), d + ${j}u < head_dim)`).join(', ')});`}
}
`

/**
 * Softmax over the keys in one pass, tile after tile, rescaling what was added up when a larger score comes (Dao et al. 2022,
 * FlashAttention). Workgroup memory is nested: the checks of indices that a browser adds are needed once for each row. `partial`: heads of a few tiles that are not all seen whole, where
 * threads whose queries lie behind the last one only bring rows; long ones lose more by loops of unknown length (2048 queries and keys on an H100: 2.86 ms, 2.68 without). dims: queries, keys, tiles of queries, heads in all, heads and key heads of a batch.
 */
export function tiledText(dtype: 'f32' | 'f16', headDim: number, causal: boolean, partial: boolean, bytes = FLOOR_BYTES): string {
  const { stay, depth, keysAt, partsAt, weightsAt, rows } = tileRows(headDim, bytes)
  const width = widthFor(headDim)
  const type = storage(dtype, width)
  const columns = Array.from({ length: Math.ceil(headDim / TILE) }, (_, c) => c)
  const together = Array.from({ length: columns.length <= 2 ? TOGETHER : TOGETHER_OF_LONG }, (_, u) => u)
  const each = (line: (c: number, i: number) => string) => columns.flatMap((c) => QUADS.map((i) => line(c, i))).join('\n')
  const written = (i: number) => (width === 4
    ? columns.map((c) => `{ let d = ${c * TILE}u + 4u * x; if (d < head_dim) { out[(row * head_dim + d) / 4u] = ${type}(sum_${c}_${i} * inverse); } }`)
    : columns.flatMap((c) => QUADS.map((j) => `{ let d = ${c * TILE + j}u + 4u * x; if (d < head_dim) { out[row * head_dim + d] = ${type}(sum_${c}_${i}[${j}] * inverse); } }`))).join(' ')
  const visible = (j: number) => `vec4<bool>(${QUADS.map((i) => `first_key + 4u * x + ${j}u < seq_k${causal ? ` && first_key + 4u * x + ${j}u <= query + ${i}u` : ''}`).join(', ')})`
  // What a thread brings of a row: four elements of every DEPTH, turned over on their way into workgroup memory.
  const brought = Array.from({ length: depth / DEPTH }, (_, b) => b * DEPTH)
  const load = (name: string, from: string, row: string) => brought.map((b) => `let ${name}_${b} = load_${from}(${row}, at + ${b}u + bring);`).join(' ')
  const store = (name: string, first: string, turned: string) => brought.flatMap((b) => QUADS.map((j) => `memory[${first} + bring + ${b + j}u][(bring_to + ${b / 2}u${turned}) % ${SIDE}u][bring_row % 4u] = ${name}_${b}[${j}];`)).join(' ')
  return `${header([{ name: 'q', type }, { name: 'k', type }, { name: 'v', type }, { name: 'out', type, write: true }], dtype === 'f16')}
const head_dim = ${headDim}u;
var<workgroup> memory: array<array<vec4<f32>, ${SIDE}>, ${rows}>;
${loader('q', width)}${loader('k', width)}${loader('v', width)}${entry(`  let seq_q = dim(0u);
  let seq_k = dim(1u);
  let tiles = dim(2u);
  let head = group / tiles;
  if (head >= dim(3u)) { return; }
  let first_query = group % tiles * ${TILE}u;
  let y = lane / ${SIDE}u;
  let x = lane % ${SIDE}u;
  let query = first_query + 4u * y;
  let q_base = head * seq_q;
  let k_base = (head / dim(4u) * dim(5u) + head % dim(4u) / (dim(4u) / dim(5u))) * seq_k;
  let bring_row = lane / 4u;
  let bring = lane % 4u * 4u;
  let bring_to = bring_row / 4u + lane % 4u * 2u;
  let query_row = q_base + min(first_query + bring_row, seq_q - 1u);
${partial ? '  let has_queries = query < seq_q;\n' : ''}  var top = vec4<f32>(-1e30);
  var total = vec4<f32>(0.0);
${each((c, i) => `  var sum_${c}_${i} = vec4<f32>(0.0);`)}
${stay ? `  for (var at = 0u; at < head_dim; at += ${depth}u) { ${load('query', 'q', 'query_row')} ${store('query', 'at', ' + at / 2u')} }
` : ''}  let seen = ${causal ? `min(seq_k, first_query + ${TILE}u)` : 'seq_k'};
  for (var first_key = 0u; first_key < seen; first_key += ${TILE}u) {
    let key_row = k_base + min(first_key + bring_row, seq_k - 1u);
${QUADS.map((j) => `    var score_${j} = vec4<f32>(0.0);`).join('\n')}
    for (var at = 0u; at < head_dim; at += ${depth}u) {
      ${stay ? '' : load('query', 'q', 'query_row')} ${load('key', 'k', 'key_row')}
      workgroupBarrier();
      ${stay ? '' : store('query', '0u', '')} ${store('key', `${keysAt}u`, '')}
      workgroupBarrier();
      for (var l = 0u; l < ${partial ? `select(0u, ${depth}u, has_queries)` : `${depth}u`}; l += ${WRITTEN_OUT}u) {
        let turned_y = (y + ${stay ? '(at + l)' : 'l'} / 2u) % ${SIDE}u;
        let turned_x = (x + l / 2u) % ${SIDE}u;
${Array.from({ length: WRITTEN_OUT }, (_, l) => `        { let queries = memory[${stay ? 'at + ' : ''}l + ${l}u][turned_y]; let keys = memory[l + ${keysAt + l}u][turned_x]; ${QUADS.map((j) => `score_${j} = fma(queries, vec4<f32>(keys[${j}]), score_${j});`).join(' ')} }`).join('\n')}
      }
    }
${QUADS.map((j) => `    let visible_${j} = ${visible(j)}; score_${j} = select(vec4<f32>(-1e30), score_${j} * scalar(0u), visible_${j});`).join('\n')}
    memory[${partsAt}u + y][x] = max(max(score_0, score_1), max(score_2, score_3));
    workgroupBarrier();
    var next = top;
    for (var j = 0u; j < ${SIDE}u; j++) { next = max(next, memory[${partsAt}u + y][j]); }
    workgroupBarrier();
${QUADS.map((j) => `    memory[4u * x + ${weightsAt + j}u][(y + 2u * x) % ${SIDE}u] = select(vec4<f32>(0.0), exp(score_${j} - next), visible_${j});`).join('\n')}
    workgroupBarrier();
    let kept = exp(top - next);
    top = next;
    total *= kept;
${each((c, i) => `    sum_${c}_${i} *= kept[${i}];`)}
${partial ? `    // Keys that none of the thread's queries sees have no weight.
    let weighed = select(0u, min(${TILE}u, ${causal ? `min(seq_k, query + ${QUADS.length}u)` : 'seq_k'} - first_key), has_queries);
` : ''}    for (var j = 0u; j < ${partial ? 'weighed' : `${TILE}u`}; j += ${together.length}u) {
${together.map((u) => `      let row_${u} = k_base + min(first_key + j + ${u}u, seq_k - 1u); ${columns.map((c) => `let v_${u}_${c} = load_v(row_${u}, ${c * TILE}u + 4u * x);`).join(' ')}`).join('\n')}
${together.map((u) => `      { let weight = memory[j + ${weightsAt + u}u][(y + j / 2u + ${2 * Math.floor(u / 4)}u) % ${SIDE}u]; total += weight; ${each((c, i) => `sum_${c}_${i} = fma(vec4<f32>(weight[${i}]), v_${u}_${c}, sum_${c}_${i});`).replaceAll('\n', ' ')} }`).join('\n')}
    }
  }
${QUADS.map((i) => `  if (query + ${i}u < seq_q) { let row = q_base + query + ${i}u; let inverse = 1.0 / total[${i}]; ${written(i)} }`).join('\n')}`)}`
}
