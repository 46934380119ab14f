import { entry, header, numbers, storage, widthFor } from '../../../wgsl/header'
import { strideOf } from '../../../wgsl/matrices/tile'
import { loadMatrix, MATRIX_DIRECTIVES, matrixTypes, multiplied, storeMatrix } from '../../../wgsl/matrices/words'
import { tilePlace } from '../tile-place'
import type { MatrixPlan } from './plan'
import { KEPT, vectorReads } from './reads'
import { softmaxText } from './softmax'

const each = <T>(of: readonly T[], text: (at: T) => string, by = '\n') => of.map(text).join(by)

/**
 * Softmax over the keys in one pass (Dao et al. 2022, FlashAttention). A subgroup has some queries of a tile, as matrices in registers, and their sums; scores pass through workgroup memory, where threads make weights of them.
 * Each subgroup has scores of its own in a nested array, so that offsets of matrices are constants: Tint checks others where they are used.
 */
export function matrixText(plan: MatrixPlan, headDim: number, causal: boolean): string {
  const { matrices, lanes, subgroups, rows, keys, depth, apart, parts, row } = plan
  const { m, n, k } = matrices
  const { left, right, sums } = matrixTypes(matrices)
  const split = parts > 1
  const threads = subgroups * lanes
  const queriesOfTile = subgroups * rows
  const [line, scoreLine] = [depth / 8, keys / 4]
  const [stride, scoreStride] = [strideOf(line), strideOf(scoreLine)]
  const values = apart ? 'values' : 'keys'
  const [rowBlocks, keyBlocks, depthBlocks, columnBlocks, weightBlocks] = [numbers(rows / m), numbers(keys / n), numbers(depth / k), numbers(depth / n), numbers(keys / k)]
  const width = widthFor(headDim)
  const outType = split ? 'f32' : storage('f16', width)
  const own = 'scores[subgroup]'
  const whenSeen = (text: string) => (causal ? `if (first_key <= last_query) {\n${text}\n    }` : `{\n${text}\n    }`)

  // Vectors of a tile of keys or values that a thread brings. Of whole tiles no row is checked.
  const bringing = numbers(Math.ceil((keys * line) / threads))
  const isEven = threads % line === 0
  const lineOf = (t: number) => (isEven ? `bring_line + ${(t * threads) / line}u` : `(lane + ${t * threads}u) / ${line}u`)
  const columnOf = (t: number) => (isEven ? 'bring_column' : `(lane + ${t * threads}u) % ${line}u`)
  const guarded = (t: number, text: string) => ((t + 1) * threads <= keys * line ? `{ ${text} }` : `if (lane + ${t * threads}u < ${keys * line}u) { ${text} }`)
  const bringAt = (t: number) => (isEven ? `source + ${((t * threads) / line) * row}u` : `source + bring_at_${t}`)
  const bring = (name: string, first: string) => `    if (${first} + ${keys}u <= seq_k) {
      let source = ${isEven ? 'bring_at' : `k_base * ${row}u`} + (${first}) * ${row}u;
${each(bringing, (t) => guarded(t, `next_${t} = row_vector_${name}(${bringAt(t)}, ${columnOf(t)});`))}
    } else {
${each(bringing, (t) => guarded(t, `let key = ${first} + ${lineOf(t)}; next_${t} = select(vec4<u32>(0u), row_vector_${name}((k_base + min(key, seq_k - 1u)) * ${row}u + 8u * (${columnOf(t)}), ${columnOf(t)}), key < seq_k);`))}
    }`
  const put = (tile: string) => each(bringing, (t) => guarded(t, `${tile}[(${lineOf(t)}) * ${stride}u + ${columnOf(t)}] = next_${t};`))

  // Queries come through the memory of scores, as many columns at a time as its lines have.
  const queries = each(numbers(Math.ceil(line / scoreLine)), (c) => {
    const wide = Math.min(scoreLine, line - c * scoreLine)
    const here = depthBlocks.filter((d) => (d * k) / 8 >= c * scoreLine && (d * k) / 8 < c * scoreLine + wide)
    return `  for (var i = own; i < ${rows * wide}u; i += ${lanes}u) { let column = i % ${wide}u + ${c * scoreLine}u; ${own}[i / ${wide}u * ${scoreStride}u + i % ${wide}u] = row_vector_q((q_base + min(first_of_subgroup + i / ${wide}u, seq_q - 1u)) * ${headDim}u + column * 8u, column); }
  workgroupBarrier();
${each(rowBlocks, (r) => each(here, (d) => `  let query_${r}_${d} = ${loadMatrix(left, own, `${r * m * scoreStride + (d * k) / 8 - c * scoreLine}u`, `${scoreStride}u`)};`))}
  workgroupBarrier();`
  })

  // Sums leave, and are scaled, through the memory of scores, as many columns at a time as its lines have.
  const sumChunks = numbers(Math.ceil(depth / keys)).map((c) => ({ at: c * keys, blocks: columnBlocks.filter((b) => b * n >= c * keys && b * n < (c + 1) * keys), columns: Math.min(keys, headDim - c * keys) }))
  const eachSum = (of: readonly number[], text: (r: number, c: number) => string) => each(rowBlocks, (r) => each(of, (c) => text(r, c)))
  const placeOf = (r: number, column: number) => `${r * m * scoreStride + column / 4}u`
  const stored = ({ at, blocks }: (typeof sumChunks)[number]) => eachSum(blocks, (r, c) => `    ${storeMatrix(own, placeOf(r, c * n - at), `sum_${r}_${c}`, `${scoreStride}u`)}`)
  const loaded = ({ at, blocks }: (typeof sumChunks)[number]) => eachSum(blocks, (r, c) => `    sum_${r}_${c} = ${loadMatrix(sums, own, placeOf(r, c * n - at), `${scoreStride}u`)};`)

  const scored = `${each(rowBlocks, (r) => each(keyBlocks, (c) => `      var score_${r}_${c} = ${sums}();`))}
${each(depthBlocks, (d) => each(keyBlocks, (c) => `      { let key = ${loadMatrix(right, 'keys', `${c * n * stride + (d * k) / 8}u`, `${stride}u`, true)}; ${each(rowBlocks, (r) => `score_${r}_${c} = ${multiplied(`query_${r}_${d}`, 'key', `score_${r}_${c}`)};`, ' ')} }`))}
${each(rowBlocks, (r) => each(keyBlocks, (c) => `      ${storeMatrix(own, placeOf(r, c * n), `score_${r}_${c}`, `${scoreStride}u`)}`))}`

  const softmax = softmaxText(plan, whenSeen, each(sumChunks, (one) => `${stored(one)}
      workgroupBarrier();
      scale_scores(subgroup, own_at, kept);
      workgroupBarrier();
${loaded(one)}
      workgroupBarrier();`))
  const weighed = each(weightBlocks, (b) => each(columnBlocks, (c) => `      { let value = ${loadMatrix(right, values, `${b * k * stride + (c * n) / 8}u`, `${stride}u`)}; ${each(rowBlocks, (r) => `sum_${r}_${c} = ${multiplied(`weight_${r}_${b}`, 'value', `sum_${r}_${c}`)};`, ' ')} }`))

  const written = ({ at, columns }: (typeof sumChunks)[number]) => {
    const value = width === 4 ? `bitcast<vec4<f32>>(${own}[line * ${scoreStride}u + column])` : `bitcast<f32>(${own}[line * ${scoreStride}u + column / 4u][column % 4u])`
    const to = `column + ${at / width}u`
    const partAt = `(row * dim(6u) + part) * ${headDim + 2}u + 2u`
    return `  for (var i = own; i < ${(rows * columns) / width}u; i += ${lanes}u) {
    let line = i / ${columns / width}u;
    let column = i % ${columns / width}u;
    if (first_of_subgroup + line < seq_q) {
      let row = q_base + first_of_subgroup + line;
      let value = ${value};
      ${split ? (width === 4 ? `let to = ${partAt} + 4u * (${to}); ${each(numbers(4), (j) => `out[to + ${j}u] = value[${j}];`, ' ')}` : `out[${partAt} + ${to}] = value;`) : `out[row * ${headDim / width}u + ${to}] = ${outType}(value / totals[first_line + line]);`}
    }
  }`
  }
  const reads = ['q', 'k', 'v'].map((name) => ({ name, length: name === 'q' ? headDim : row })).map((one) => ({ ...one, ...vectorReads(one.name, one.length) }))
  // A vector of a row from an element on that is its vector `column`: 0 beyond the end of the row.
  const rowVectors = each(reads, ({ name, length, functions }) => `${functions}fn row_vector_${name}(at: u32, column: u32) -> vec4<u32> {
  return ${length === depth ? `vector_of_${name}(at)` : `kept(vector_of_${name}(at), ${headDim}u - min(8u * column, ${headDim}u))`};
}`)
  const tile = `array<vec4<u32>, ${keys * stride}>`
  return `${MATRIX_DIRECTIVES}diagnostic(off, subgroup_uniformity);
${header([...reads.map(({ name, type }) => ({ name, type })), { name: 'out', type: outType, write: true }], true, true)}
var<workgroup> keys: ${tile};
${apart ? `var<workgroup> values: ${tile};\n` : ''}var<workgroup> scores: array<array<vec4<u32>, ${rows * scoreStride}>, ${subgroups}>;
var<workgroup> totals: array<f32, ${queriesOfTile}>;
var<workgroup> raised: u32;
${headDim === depth ? '' : KEPT}${rowVectors}
${softmax.functions}
${entry(`${tilePlace(queriesOfTile, causal ? 'last' : 'first', split)}
  let own = lane % ${lanes}u;
  let subgroup = lane / ${lanes}u;
  let first_line = subgroup * ${rows}u;
  let first_of_subgroup = first_query + first_line;
${causal ? `  let last_query = first_of_subgroup + ${rows - 1}u;\n` : ''}  let own_row = own % ${rows}u;
  let own_at = own_row * ${scoreStride}u + own / ${rows}u * ${softmax.quads}u;
  let own_key = own / ${rows}u * ${4 * softmax.quads}u;
  let limit = ${causal ? 'min(seq_k, first_of_subgroup + own_row + 1u)' : 'seq_k'};
  let factor = scalar(0u) * ${Math.LOG2E};
${isEven ? `  let bring_line = lane / ${line}u;\n  let bring_column = lane % ${line}u;\n  let bring_at = (k_base + bring_line) * ${row}u + 8u * bring_column;` : each(bringing, (t) => `  let bring_at_${t} = (${lineOf(t)}) * ${row}u + 8u * (${columnOf(t)});`)}
${each(bringing, (t) => `  var next_${t} = vec4<u32>(0u);`)}
  let all_seen = ${causal ? `min(seq_k, first_query + ${queriesOfTile}u)` : 'seq_k'};
  let start = ${split ? 'part * dim(7u)' : '0u'};
  let seen = ${split ? 'min(all_seen, (part + 1u) * dim(7u))' : 'all_seen'};
${bring('k', 'start')}
${queries}
${put('keys')}
  var top = -1e20;
  var total = 0.0;
${eachSum(columnBlocks, (r, c) => `  var sum_${r}_${c} = ${sums}();`)}
  workgroupBarrier();
  for (var first_key = start; first_key < seen; first_key += ${keys}u) {
    // The values are on their way while scores are found, and the next keys while values are added up.
${bring('v', 'first_key')}
    ${whenSeen(scored)}
    workgroupBarrier();
${put(values)}
${bring('k', `first_key + ${keys}u`)}
${softmax.weights}
    ${whenSeen(weighed)}
${apart ? '' : '    workgroupBarrier();\n'}${put('keys')}
    workgroupBarrier();
  }
${softmax.total}
${split
    ? `  if (own < ${rows}u && first_of_subgroup + own < seq_q) { let to = ((q_base + first_of_subgroup + own) * dim(6u) + part) * ${headDim + 2}u; out[to] = top * ${Math.LN2}; out[to + 1u] = total; }`
    : `  if (own < ${rows}u) { totals[first_line + own] = total; }`}
${each(sumChunks, (one) => `${stored(one)}
  workgroupBarrier();
${written(one)}
  workgroupBarrier();`)}`, threads)}`
}
