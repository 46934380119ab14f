import { entry, header, numbers, storage, widthFor } from '../../../wgsl/header'
import { keptText, vectorReads } from '../../../wgsl/matrix-tile'
import { loadMatrix, MATRIX_DIRECTIVES, matrixTypes, multiplied, storeMatrix } from '../../../wgsl/subgroup-matrix'
import type { MatrixPlan } from './plan'

/** Powers of two by which a score may pass the largest one in use before sums are scaled: weights stay far below the largest f16. */
const HEADROOM = 8

/**
 * Softmax over the keys in one pass (Dao et al. 2022, FlashAttention). A subgroup has some queries of a tile, as matrices in registers, and their sums; scores pass through workgroup memory, where threads make weights of them.
 * Elements of a matrix cannot be reached, so sums are scaled through workgroup memory, and only when a score passes the largest one in use by HEADROOM.
 * dims: queries, keys, tiles of queries, heads in all, heads and key heads of a batch, parts, keys of a part.
 */
export function matrixText(plan: MatrixPlan, headDim: number, causal: boolean): string {
  const { matrices, lanes, subgroups, rows, keys, depth, apart, stride, scoreStride, scoresAt, vectors, parts, asked, queriesAt, queryStride, spread = 1 } = plan
  const { m, n, k } = matrices
  const { left, right, sums } = matrixTypes(matrices)
  const split = parts > 1
  const threads = subgroups * lanes
  const line = depth / 8
  const valuesAt = apart ? line : 0
  // Scores of a row that a thread has, in vectors of four; several threads share a row where a subgroup has more threads than queries.
  const sharing = (lanes / rows) * spread
  const queriesOfTile = (rows * subgroups) / spread
  const quads = numbers(keys / 4 / sharing)
  const beside = (scoreStride - 1) / (keys / 4)
  const [rowBlocks, keyBlocks, depthBlocks, columnBlocks] = [numbers(rows / m), numbers(keys / spread / n), numbers(depth / k), numbers(depth / spread / n)]
  const weightBlocks = numbers(keys / k)
  const each = <T>(of: readonly T[], text: (at: T) => string, by = '\n') => of.map(text).join(by)
  const [q, kk, v] = ['q', 'k', 'v'].map((name) => vectorReads(name, 'f16', headDim))
  const width = widthFor(headDim)
  const outType = split ? 'f32' : storage('f16', width)
  const isWhole = headDim === depth
  // A vector of a row from an element on that is its vector `column`: 0 beyond the end of the row.
  const rowVector = (name: string) => `fn row_vector_${name}(at: u32, column: u32) -> vec4<u32> {
  return ${isWhole ? `vector_of_${name}(at)` : `kept(vector_of_${name}(at), ${headDim}u - min(8u * column, ${headDim}u))`};
}
`
  // Vectors of a tile of keys or values that a thread brings.
  const bringing = numbers(Math.ceil((keys * line) / threads))
  const isEven = threads % line === 0
  const lineOf = (t: number) => (isEven ? `bring_line + ${(t * threads) / line}u` : `(lane + ${t * threads}u) / ${line}u`)
  const columnOf = (t: number) => (isEven ? 'bring_column' : `(lane + ${t * threads}u) % ${line}u`)
  const guarded = (t: number, text: string) => ((t + 1) * threads <= keys * line ? text : `if (lane + ${t * threads}u < ${keys * line}u) { ${text} }`)
  // Of whole tiles no row is checked; offsets differ by constants where threads have the same column of several rows.
  const bringAt = (t: number) => (isEven ? `source + ${((t * threads) / line) * headDim}u` : `source + bring_at_${t}`)
  const bring = (name: string, first: string) => `    if (${first} + ${keys}u <= seq_k) {
      let source = ${isEven ? 'bring_at' : `k_base * ${headDim}u`} + (${first}) * ${headDim}u;
${each(bringing, (t) => guarded(t, `      next_${t} = row_vector_${name}(${bringAt(t)}, ${columnOf(t)});`))}
    } else {
${each(bringing, (t) => guarded(t, `{ let key = ${first} + ${lineOf(t)}; next_${t} = select(vec4<u32>(0u), row_vector_${name}((k_base + min(key, seq_k - 1u)) * ${headDim}u + 8u * (${columnOf(t)}), ${columnOf(t)}), key < seq_k); }`))}
    }`
  const put = (at: number) => each(bringing, (t) => guarded(t, `memory[(${lineOf(t)}) * ${stride}u + ${columnOf(t)} + ${at}u] = next_${t};`))
  // Queries come through the memory of scores, as many columns at a time as its lines have.
  const chunk = keys / 4
  const queryChunks = numbers(Math.ceil(line / chunk)).map((c) => ({ at: c * chunk, wide: Math.min(chunk, line - c * chunk) }))
  const [share, shareOfColumns] = [keys / spread, depth / spread]
  const sumChunks = numbers(Math.ceil(shareOfColumns / share)).map((c) => ({ at: c * share, columns: Math.min(share, shareOfColumns - c * share) }))
  const ofMember = (count: number) => (spread > 1 ? ` + member * ${count}u` : '')
  const inChunk = ({ at, columns }: { at: number; columns: number }) => columnBlocks.filter((c) => c * n >= at && c * n < at + columns)
  const query = (r: number, d: number) => loadMatrix(left, 'memory', `own_queries + ${r * m * queryStride + (d * k) / 8}u`, `${queryStride}u`)
  const queries = asked
    ? `  let own_queries = ${queriesAt}u + first_line * ${queryStride}u;
  for (var i = own${ofMember(lanes)}; i < ${rows * line}u; i += ${lanes * spread}u) { memory[own_queries + i / ${line}u * ${queryStride}u + i % ${line}u] = row_vector_q((q_base + min(first_of_subgroup + i / ${line}u, seq_q - 1u)) * ${headDim}u + i % ${line}u * 8u, i % ${line}u); }`
    : each(queryChunks, ({ at, wide }) => `  for (var i = own${ofMember(lanes)}; i < ${rows * wide}u; i += ${lanes * spread}u) { memory[region + i / ${wide}u * ${scoreStride}u + i % ${wide}u] = row_vector_q((q_base + min(first_of_subgroup + i / ${wide}u, seq_q - 1u)) * ${headDim}u + (i % ${wide}u + ${at}u) * 8u, i % ${wide}u + ${at}u); }
  workgroupBarrier();
${each(rowBlocks, (r) => each(depthBlocks.filter((d) => (d * k) / 8 >= at && (d * k) / 8 < at + wide), (d) => `  let query_${r}_${d} = ${loadMatrix(left, 'memory', `region + ${r * m * scoreStride + (d * k) / 8 - at}u`, `${scoreStride}u`)};`))}
  workgroupBarrier();`)
  const eachSum = (of: readonly number[], text: (r: number, c: number) => string) => each(rowBlocks, (r) => each(of, (c) => text(r, c)))
  const sumAt = (r: number, c: number, at: number) => `region + ${r * m * scoreStride + (c * n - at) / 4}u${ofMember(share / 4)}`
  const stored = (one: { at: number; columns: number }) => eachSum(inChunk(one), (r, c) => `    ${storeMatrix('memory', sumAt(r, c, one.at), `sum_${r}_${c}`, `${scoreStride}u`)}`)
  // Weights of a row lie where the scores of the same thread were.
  const weightAt = (r: number, b: number) => {
    const perThread = keys / sharing
    const share = Math.floor((b * k) / perThread)
    return `region + ${r * m * scoreStride + (share * perThread) / 4 + (b * k - share * perThread) / 8}u`
  }
  const whenSeen = (text: string) => (causal ? `if (first_key <= last_query) {\n${text}\n    }` : `{\n${text}\n    }`)
  const exchanged = (name: string, by: (a: string, b: string) => string) => each(numbers(Math.log2(lanes / rows)), (s) => `      ${name} = ${by(name, `subgroupShuffleXor(${name}, ${rows << s}u)`)};`)
  const totalOf = (line: string) => numbers(spread).map((i) => `factors[${i * queriesOfTile}u + first_line + ${line}]`).join(' + ')
  const written = (one: { at: number; columns: number }) => {
    const wide = spread > 1 ? one.columns : Math.min(one.columns, headDim - one.at)
    const from = `region${ofMember(share / 4)} + line * ${scoreStride}u`
    const [units, unit] = [ofMember(shareOfColumns), ofMember(shareOfColumns / width)]
    return `  for (var i = own; i < ${(rows * wide) / width}u; i += ${lanes}u) {
    let line = i / ${wide / width}u;
    let column = i % ${wide / width}u;
    let of_query = first_of_subgroup + line;
    if (of_query < seq_q${spread > 1 ? ` && ${one.at / width}u + column${unit} < ${headDim / width}u` : ''}) {
      let row = q_base + of_query;
${split
    ? width === 4
      ? `      let value = bitcast<vec4<f32>>(memory[${from} + column]); let to = (row * dim(6u) + part) * ${headDim + 2}u + ${2 + one.at}u + 4u * column${units}; ${each(numbers(4), (j) => `out[to + ${j}u] = value[${j}];`, ' ')}`
      : `      out[(row * dim(6u) + part) * ${headDim + 2}u + ${2 + one.at}u + column${units}] = bitcast<f32>(memory[${from} + column / 4u][column % 4u]);`
    : width === 4
      ? `      out[row * ${headDim / 4}u + ${one.at / 4}u + column${unit}] = ${outType}(bitcast<vec4<f32>>(memory[${from} + column]) / (${totalOf('line')}));`
      : `      out[row * ${headDim}u + ${one.at}u + column${units}] = ${outType}(bitcast<f32>(memory[${from} + column / 4u][column % 4u]) / (${totalOf('line')}));`}
    }
  }`
  }
  const scaled = each(sumChunks, (one) => `${stored(one)}
      workgroupBarrier();
${each(quads, (j) => `      memory[own_at + ${j}u] = bitcast<vec4<u32>>(bitcast<vec4<f32>>(memory[own_at + ${j}u]) * kept);`)}
      workgroupBarrier();
${eachSum(inChunk(one), (r, c) => `      sum_${r}_${c} = ${loadMatrix(sums, 'memory', sumAt(r, c, one.at), `${scoreStride}u`)};`)}
      workgroupBarrier();`)
  const scores = `${each(quads, (j) => `      s_${j} = bitcast<vec4<f32>>(memory[own_at + ${j}u]);`)}
      if (first_key + ${keys}u > limit) {
        let place = vec4<u32>(first_key + own_key) + vec4<u32>(0u, 1u, 2u, 3u);
${each(quads, (j) => `        s_${j} = select(vec4<f32>(-1e30), s_${j}, place + vec4<u32>(${4 * j}u) < vec4<u32>(limit));`)}
      }
      var highest = s_0;
${each(quads.slice(1), (j) => `      highest = max(highest, s_${j});`)}
      high = max(max(highest.x, highest.y), max(highest.z, highest.w));
${exchanged('high', (a, b) => `max(${a}, ${b})`)}
      high *= factor;`
  const weights = `      var weighed = vec4<f32>(0.0);
${each(quads, (j) => `      s_${j} = exp2(s_${j} * factor - top); weighed += s_${j};`)}
      total += (weighed.x + weighed.y) + (weighed.z + weighed.w);
${each(numbers(quads.length / 2), (j) => `      memory[own_at + ${j}u] = vec4<u32>(pack2x16float(s_${2 * j}.xy), pack2x16float(s_${2 * j}.zw), pack2x16float(s_${2 * j + 1}.xy), pack2x16float(s_${2 * j + 1}.zw));`)}`
  const declared = `${each(quads, (j) => `    var s_${j}: vec4<f32>;`)}
    var high = -1e20;
    var kept = 1.0;`
  const softmax = `${declared}
    ${whenSeen(`${scores}
      if (high > top + ${HEADROOM}.0) {
        kept = exp2(top - high);
        total *= kept;
        top = high;
        if (first_key != start) { raised = first_key; }
      }
${weights}`)}
    let is_raised = workgroupUniformLoad(&raised) == first_key && first_key != start;`
  // The threads that share a row must agree on the largest score in use.
  const spreadSoftmax = `${declared}
    ${whenSeen(`${scores}
      if (high > top + ${HEADROOM}.0) { raised = first_key + 1u; }`)}
    if (workgroupUniformLoad(&raised) == first_key + 1u) {
      if (own < ${rows}u) { factors[member * ${queriesOfTile}u + first_line + own] = high; }
      workgroupBarrier();
      let next = max(top, ${numbers(spread).map((i) => `factors[${i * queriesOfTile}u + first_line + own_row]`).reduce((a, b) => `max(${a}, ${b})`)});
      kept = exp2(top - next);
      total *= kept;
      top = next;
      if (first_key != start) {
${scaled}
      }
    }
    ${whenSeen(weights)}
    workgroupBarrier();`
  return `${MATRIX_DIRECTIVES}diagnostic(off, subgroup_uniformity);
${header([{ name: 'q', type: q!.type }, { name: 'k', type: kk!.type }, { name: 'v', type: v!.type }, { name: 'out', type: outType, write: true }], true, true)}
var<workgroup> memory: array<vec4<u32>, ${vectors}>;
var<workgroup> factors: array<f32, ${rows * subgroups}>;
var<workgroup> raised: u32;
${q!.functions}${kk!.functions}${v!.functions}${isWhole ? '' : keptText('f16')}${['q', 'k', 'v'].map(rowVector).join('')}
${entry(`  let seq_q = dim(0u);
  let seq_k = dim(1u);
  let tiles = dim(2u);
  let tile = ${split ? 'group / dim(6u)' : 'group'};
${split ? '  let part = group % dim(6u);\n' : ''}  let head = tile / tiles;
  if (head >= dim(3u)) { return; }
  // Causal tiles that see the most keys begin first.
  let first_query = ${causal ? '(tiles - 1u - tile % tiles)' : 'tile % tiles'} * ${queriesOfTile}u;
  let subgroup = lane / ${lanes}u;
  let own = lane % ${lanes}u;
  ${spread > 1 ? `  let team = subgroup / ${spread}u;\n  let member = subgroup % ${spread}u;\n` : '  let team = subgroup;\n'}  let first_line = team * ${rows}u;
  let first_of_subgroup = first_query + first_line;
${causal ? `  let last_query = first_of_subgroup + ${rows - 1}u;\n` : ''}  let region = ${scoresAt}u + team / ${beside}u * ${rows * scoreStride}u + team % ${beside}u * ${keys / 4}u;
  let own_row = own % ${rows}u;
  let own_at = region + own_row * ${scoreStride}u + own / ${rows}u * ${quads.length}u${ofMember(share / 4)};
  let own_key = own / ${rows}u * ${4 * quads.length}u${ofMember(share)};
  let limit = ${causal ? 'min(seq_k, first_of_subgroup + own_row + 1u)' : 'seq_k'};
  let q_base = head * seq_q;
  let k_base = (head / dim(4u) * dim(5u) + head % dim(4u) / (dim(4u) / dim(5u))) * seq_k;
  let factor = scalar(0u) * ${Math.LOG2E};
${isEven ? `  let bring_line = lane / ${line}u;\n  let bring_column = lane % ${line}u;\n  let bring_at = (k_base + bring_line) * ${headDim}u + 8u * bring_column;\n` : each(bringing, (t) => `  let bring_at_${t} = (${lineOf(t)}) * ${headDim}u + 8u * (${columnOf(t)});\n`, '')}${each(bringing, (t) => `  var next_${t} = vec4<u32>(0u);`)}
  let all_seen = ${causal ? `min(seq_k, first_query + ${queriesOfTile}u)` : 'seq_k'};
  let start = ${split ? 'part * dim(7u)' : '0u'};
  let seen = ${split ? 'min(all_seen, (part + 1u) * dim(7u))' : 'all_seen'};
${bring('k', 'start')}
${queries}
${put(0)}
  var top = -1e20;
  var total = 0.0;
${eachSum(columnBlocks, (r, c) => `  var sum_${r}_${c} = ${sums}();`)}
  workgroupBarrier();
  for (var first_key = start; first_key < seen; first_key += ${keys}u) {
    // The values are on their way while scores are found, and the next keys while values are added up.
${bring('v', 'first_key')}
    ${whenSeen(`${each(rowBlocks, (r) => each(keyBlocks, (c) => `      var score_${r}_${c} = ${sums}();`))}
${each(depthBlocks, (d) => `${asked ? `${each(rowBlocks, (r) => `      let query_${r}_${d} = ${query(r, d)};`)}\n` : ''}${each(keyBlocks, (c) => `      { let key = ${loadMatrix(right, 'memory', `${c * n * stride + (d * k) / 8}u${ofMember(share * stride)}`, `${stride}u`, true)}; ${each(rowBlocks, (r) => `score_${r}_${c} = ${multiplied(`query_${r}_${d}`, 'key', `score_${r}_${c}`)};`, ' ')} }`)}`)}
${each(rowBlocks, (r) => each(keyBlocks, (c) => `      ${storeMatrix('memory', `region + ${r * m * scoreStride + (c * n) / 4}u${ofMember(share / 4)}`, `score_${r}_${c}`, `${scoreStride}u`)}`))}`)}
    workgroupBarrier();
${put(valuesAt)}
${bring('k', `first_key + ${keys}u`)}
${spread > 1 ? spreadSoftmax : softmax}
${each(rowBlocks, (r) => each(weightBlocks, (b) => `    let weight_${r}_${b} = ${loadMatrix(left, 'memory', weightAt(r, b), `${scoreStride}u`)};`))}
${spread > 1 ? '' : `    if (is_raised) {
      workgroupBarrier();
${scaled}
    }`}
    ${whenSeen(each(weightBlocks, (b) => each(columnBlocks, (c) => `      { let value = ${loadMatrix(right, 'memory', `${b * k * stride + valuesAt + (c * n) / 8}u${ofMember(shareOfColumns / 8)}`, `${stride}u`)}; ${each(rowBlocks, (r) => `sum_${r}_${c} = ${multiplied(`weight_${r}_${b}`, 'value', `sum_${r}_${c}`)};`, ' ')} }`)))}
${apart ? '' : '    workgroupBarrier();\n'}${put(0)}
    workgroupBarrier();
  }
${exchanged('total', (a, b) => `${a} + ${b}`)}
  if (own < ${rows}u) { factors[${spread > 1 ? `member * ${queriesOfTile}u + ` : ''}first_line + own] = total; }
${split ? `  workgroupBarrier();
  if (own < ${rows}u${spread > 1 ? ' && member == 0u' : ''} && first_of_subgroup + own < seq_q) { let to = ((q_base + first_of_subgroup + own) * dim(6u) + part) * ${headDim + 2}u; out[to] = top * ${Math.LN2}; out[to + 1u] = ${totalOf('own')}; }` : ''}
${each(sumChunks, (one) => `${stored(one)}
  workgroupBarrier();
${written(one)}
  workgroupBarrier();`)}`, threads)}`
}
