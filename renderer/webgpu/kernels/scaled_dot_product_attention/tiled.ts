import { entry, header, storage, widthFor } from '../../wgsl/header'

/** Queries and keys of a tile: a thread has 4x4 scores of it, and of four queries every 64th four elements of the result. */
export const TILE = 64
const SIDE = 16
/** Elements of queries and keys that lie in workgroup memory at a time, and those whose products are written out. */
const DEPTH = 16
const WRITTEN_OUT = 2
/** Keys whose values are on their way together, and those of longer heads, whose values would leave no registers. */
const TOGETHER = 8
const TOGETHER_OF_LONG = 4
const QUADS = [0, 1, 2, 3]

/** Rows of SIDE vectors in workgroup memory (16 KiB): the queries, the keys and then the parts of the largest score, or the weights of a tile. */
const KEYS_AT = DEPTH
const PARTS_AT = 2 * DEPTH

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
export function tiledText(dtype: 'f32' | 'f16', headDim: number, causal: boolean, partial: boolean): string {
  const width = widthFor(headDim)
  const type = storage(dtype, width)
  const columns = Array.from({ length: Math.ceil(headDim / TILE) }, (_, c) => c)
  const together = Array.from({ length: columns.length <= 2 ? TOGETHER : TOGETHER_OF_LONG }, (_, u) => u)
  const each = (line: (c: number, i: number) => string) => columns.flatMap((c) => QUADS.map((i) => line(c, i))).join('\n')
  const written = (i: number) => (width === 4
    ? columns.map((c) => `{ let d = ${c * TILE}u + 4u * x; if (d < head_dim) { out[(row * head_dim + d) / 4u] = ${type}(sum_${c}_${i} * inverse); } }`)
    : columns.flatMap((c) => QUADS.map((j) => `{ let d = ${c * TILE + j}u + 4u * x; if (d < head_dim) { out[row * head_dim + d] = ${type}(sum_${c}_${i}[${j}] * inverse); } }`))).join(' ')
  const visible = (j: number) => `vec4<bool>(${QUADS.map((i) => `first_key + 4u * x + ${j}u < seq_k${causal ? ` && first_key + 4u * x + ${j}u <= query + ${i}u` : ''}`).join(', ')})`
  return `${header([{ name: 'q', type }, { name: 'k', type }, { name: 'v', type }, { name: 'out', type, write: true }], dtype === 'f16')}
const head_dim = ${headDim}u;
var<workgroup> memory: array<array<vec4<f32>, ${SIDE}>, ${TILE}>;
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
  // A thread brings four elements of a row, which are turned over on their way into workgroup memory.
  let bring_row = lane / 4u;
  let bring = lane % 4u * 4u;
  let query_row = q_base + min(first_query + bring_row, seq_q - 1u);
${partial ? '  let has_queries = query < seq_q;\n' : ''}  var top = vec4<f32>(-1e30);
  var total = vec4<f32>(0.0);
${each((c, i) => `  var sum_${c}_${i} = vec4<f32>(0.0);`)}
  let seen = ${causal ? `min(seq_k, first_query + ${TILE}u)` : 'seq_k'};
  for (var first_key = 0u; first_key < seen; first_key += ${TILE}u) {
    let key_row = k_base + min(first_key + bring_row, seq_k - 1u);
${QUADS.map((j) => `    var score_${j} = vec4<f32>(0.0);`).join('\n')}
    for (var at = 0u; at < head_dim; at += ${DEPTH}u) {
      let of_query = load_q(query_row, at + bring);
      let of_key = load_k(key_row, at + bring);
      workgroupBarrier();
${QUADS.map((j) => `      memory[bring + ${j}u][bring_row / 4u][bring_row % 4u] = of_query[${j}]; memory[${KEYS_AT}u + bring + ${j}u][bring_row / 4u][bring_row % 4u] = of_key[${j}];`).join('\n')}
      workgroupBarrier();
      for (var l = 0u; l < ${partial ? `select(0u, ${DEPTH}u, has_queries)` : `${DEPTH}u`}; l += ${WRITTEN_OUT}u) {
${Array.from({ length: WRITTEN_OUT }, (_, l) => `        { let queries = memory[l + ${l}u][y]; let keys = memory[l + ${KEYS_AT + l}u][x]; ${QUADS.map((j) => `score_${j} = fma(queries, vec4<f32>(keys[${j}]), score_${j});`).join(' ')} }`).join('\n')}
      }
    }
${QUADS.map((j) => `    let visible_${j} = ${visible(j)}; score_${j} = select(vec4<f32>(-1e30), score_${j} * scalar(0u), visible_${j});`).join('\n')}
    memory[${PARTS_AT}u + y][x] = max(max(score_0, score_1), max(score_2, score_3));
    workgroupBarrier();
    var next = top;
    for (var j = 0u; j < ${SIDE}u; j++) { next = max(next, memory[${PARTS_AT}u + y][j]); }
    workgroupBarrier();
${QUADS.map((j) => `    memory[4u * x + ${j}u][y] = select(vec4<f32>(0.0), exp(score_${j} - next), visible_${j});`).join('\n')}
    workgroupBarrier();
    let kept = exp(top - next);
    top = next;
    total *= kept;
${each((c, i) => `    sum_${c}_${i} *= kept[${i}];`)}
${partial ? `    // Keys that none of the thread's queries sees have no weight.
    let weighed = select(0u, min(${TILE}u, ${causal ? `min(seq_k, query + ${QUADS.length}u)` : 'seq_k'} - first_key), has_queries);
` : ''}    for (var j = 0u; j < ${partial ? 'weighed' : `${TILE}u`}; j += ${together.length}u) {
${together.map((u) => `      let row_${u} = k_base + min(first_key + j + ${u}u, seq_k - 1u); ${columns.map((c) => `let v_${u}_${c} = load_v(row_${u}, ${c * TILE}u + 4u * x);`).join(' ')}`).join('\n')}
${together.map((u) => `      { let weight = memory[j + ${u}u][y]; total += weight; ${each((c, i) => `sum_${c}_${i} = fma(vec4<f32>(weight[${i}]), v_${u}_${c}, sum_${c}_${i});`).replaceAll('\n', ' ')} }`).join('\n')}
    }
  }
${QUADS.map((i) => `  if (query + ${i}u < seq_q) { let row = q_base + query + ${i}u; let inverse = 1.0 / total[${i}]; ${written(i)} }`).join('\n')}`)}`
}
