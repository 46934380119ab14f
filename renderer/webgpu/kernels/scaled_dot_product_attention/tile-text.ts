import { entry, header, numbers, storage, widthFor } from '../../wgsl/header'
import type { KernelShape } from '../types'
import type { FewAttention } from './few'
import { tilePlace } from './tile-place'

/** How a workgroup computes a tile of queries and keys. */
export interface Tile {
  /** Threads that have different queries, and those that have different keys of the same ones. */
  high: number
  wide: number
  /** Groups of four queries of a thread, `high` groups apart, and groups of four keys, `wide` groups apart. */
  rows: number
  keys: number
  /** Elements of queries and keys that lie in workgroup memory at a time. */
  depth: number
  /** Keys whose weights lie there at a time. */
  weighed: number
  /** Keys whose values are added up together, while those of as many more are on their way. */
  together: number
  /** Groups of four steps written out. */
  written: number
}

export const queriesOf = ({ high, rows }: Tile): number => 4 * high * rows
const keysOf = ({ wide, keys }: Tile): number => 4 * wide * keys

const QUADS = [0, 1, 2, 3]

/** Groups of four rows that memory for queries, or later for the weights of some keys, has. */
const held = ({ depth, weighed, wide }: Tile): number => Math.max(depth, weighed, wide) / 4

/** Bytes of workgroup memory. */
export const bytesOf = (tile: Tile): number => 16 * (held(tile) * (queriesOf(tile) + 1) + (tile.depth / 4) * (keysOf(tile) + 1))

/** WGSL of four elements of row `row` of a tensor from `d` on, rows clamped: read as `nested` arrays of four rows, an index is checked once for all of these. */
interface Reader {
  type: string
  functions: string
  four: (row: string, i: number, d: string) => string
}

function reader(name: 'q' | 'k' | 'v', { dtype, headDim, seqQ, seqK }: FewAttention, isWhole: boolean): Reader {
  const width = widthFor(headDim)
  const type = storage(dtype, width)
  const [base, rows] = name === 'q' ? ['q_base', 'seq_q'] : ['k_base', 'seq_k']
  if (dtype === 'f32' && width === 4 && (name === 'q' ? seqQ : seqK) % 4 === 0 && isWhole)
    return { type: `array<array<vec4<f32>, ${headDim / 4}>, 4>`, functions: '', four: (row, i, d) => `${name}[${base} / 4u + min(${row}, ${rows} - 4u) / 4u][${i}u][${d} / 4u]` }
  const vector = isWhole ? `vec4<f32>(${name}[row * ${headDim / 4}u + d / 4u])` : `select(vec4<f32>(0.0), vec4<f32>(${name}[row * ${headDim / 4}u + min(d, ${headDim - 4}u) / 4u]), d < ${headDim}u)`
  const single = `vec4<f32>(${QUADS.map((j) => `select(0.0, f32(${name}[row * ${headDim}u + min(d + ${j}u, ${headDim - 1}u)]), d + ${j}u < ${headDim}u)`).join(', ')})`
  return { type, functions: `fn load_${name}(row: u32, d: u32) -> vec4<f32> { return ${width === 4 ? vector : single}; }\n`, four: (row, i, d) => `load_${name}(${base} + min(${row} + ${i}u, ${rows} - 1u), ${d})` }
}

/**
 * Softmax over the keys in one pass, tile after tile, rescaling what was added up when a larger score comes (Dao et al. 2022, FlashAttention). Arrays are nested, so that
 * the checks of indices that a browser adds are few, and rows of workgroup memory are a vector longer than what they hold: neighbouring threads, which bring neighbouring vectors of a
 * row, turned over, write to different banks.
 */
export function tileText(of: FewAttention, tile: Tile, subgroups: KernelShape['subgroups']): string {
  const { dtype, headDim, causal, seqK } = of
  const { high, wide, depth, weighed, together, written } = tile
  const [ofQueries, ofKeys, threads] = [queriesOf(tile), keysOf(tile), high * wide]
  const [rows, keys, columns] = [tile.rows, tile.keys, Math.ceil(headDim / (4 * wide))].map(numbers) as [number[], number[], number[]]
  const width = widthFor(headDim)
  const type = storage(dtype, width)
  const shuffles = subgroups !== undefined && subgroups >= wide
  const deep = depth / 4
  const [q, k, v] = [reader('q', of, headDim % depth === 0), reader('k', of, headDim % depth === 0), reader('v', of, true)]
  const rounds = (rowsOfTile: number, text: (round: number, block: string) => string) => numbers(Math.ceil((rowsOfTile * deep) / (4 * threads))).map((round) => text(round, `(lane + ${round * threads}u)`)).join('\n')
  const fetch = (name: string, four: Reader['four'], first: string, rowsOfTile: number, at: number) => rounds(rowsOfTile, (round, block) => `      ${QUADS.map((i) => `let ${name}_${at}_${round}_${i} = ${four(`(${first} + 4u * (${block} / ${deep}u))`, i, `(${at}u + 4u * (${block} % ${deep}u))`)};`).join(' ')}`)
  const put = (name: string, rowsOfTile: number, at: number) => rounds(rowsOfTile, (round, block) => `      ${4 * (round + 1) * threads > rowsOfTile * deep ? `if (${block} < ${(rowsOfTile * deep) / 4}u) ` : ''}{ let l = ${block} % ${deep}u; let quad = ${block} / ${deep}u; ${QUADS.map((e) => `${name}[l].rows[${e}u][quad] = vec4<f32>(${QUADS.map((i) => `${name}_${at}_${round}_${i}[${e}]`).join(', ')});`).join(' ')} }`)
  const fetchBoth = (at: number) => `${fetch('queries', q.four, 'first_query', ofQueries, at)}\n${fetch('keys', k.four, 'first_key', ofKeys, at)}`
  const scores = (text: (r: number, c: number, j: number) => string) => rows.flatMap((r) => keys.flatMap((c) => QUADS.map((j) => text(r, c, j)))).join(' ')
  const ofRow = (r: number) => keys.flatMap((c) => QUADS.map((j) => `score_${r}_${c}_${j}`))
  const sums = (text: (r: number, i: number, c: number) => string) => rows.flatMap((r) => QUADS.flatMap((i) => columns.map((c) => text(r, i, c)))).join(' ')
  const eachRow = (text: (r: number) => string) => rows.map((r) => `    ${text(r)}`).join('\n')
  const quad = (r: number) => `y + ${r * high}u`
  /** Joins what the threads of the same queries have. */
  const joined = (name: string, join: (a: string, b: string) => string) => shuffles
    ? eachRow((r) => numbers(Math.log2(wide)).map((bit) => `${name}_${r} = ${join(`${name}_${r}`, `subgroupShuffleXor(${name}_${r}, ${2 ** bit}u)`)};`).join(' '))
    : `    workgroupBarrier();\n${eachRow((r) => `queries[x / 4u].rows[x % 4u][${quad(r)}] = ${name}_${r};`)}\n    workgroupBarrier();\n${eachRow((r) => `${name}_${r} = queries[0].rows[0][${quad(r)}]; for (var j = 1u; j < ${wide}u; j++) { ${name}_${r} = ${join(`${name}_${r}`, `queries[j / 4u].rows[j % 4u][${quad(r)}]`)}; }`)}`
  const hidden = !causal && seqK % ofKeys === 0 ? '' : `    if (first_key + ${ofKeys}u > ${causal ? 'min(seq_k, first_query + 1u)' : 'seq_k'}) {
${eachRow((r) => `  let last_${r} = ${causal ? `min(vec4<u32>(seq_k - 1u), vec4<u32>(first_query + 4u * (${quad(r)})) + vec4<u32>(0u, 1u, 2u, 3u))` : 'vec4<u32>(seq_k - 1u)'};`)}
${keys.flatMap((c) => QUADS.map((j) => `      { let key = vec4<u32>(first_key + ${4 * c * wide + j}u + 4u * x); ${rows.map((r) => `score_${r}_${c}_${j} = select(vec4<f32>(-1e30), score_${r}_${c}_${j}, key <= last_${r});`).join(' ')} }`)).join('\n')}
    }`
  // Two sets of values take turns: one is added up while the other is on its way.
  const group = numbers(together)
  const load = (declare: string, set: string, row: string, from: number) => group.map((u) => `        ${columns.map((c) => `${declare}${set}_${u}_${c} = ${v.four(`(${row} + ${from + u - (u % 4)}u)`, u % 4, `d_${c}`)};`).join(' ')}`).join('\n')
  const add = (set: string, from: number) => group.map((u) => `        { ${rows.map((r) => `let weight_${r} = queries[j / 4u + ${Math.floor((from + u) / 4)}u].rows[${u % 4}u][${quad(r)}];`).join(' ')} ${sums((r, i, c) => `sum_${r}_${i}_${c} = fma(vec4<f32>(weight_${r}[${i}]), ${set}_${u}_${c}, sum_${r}_${i}_${c});`)} }`).join('\n')
  const place = (c: number) => `4u * x + ${4 * c * wide}u`
  const write = (c: number, text: (d: string, j: number) => string) => QUADS.map((j) => `{ let d = ${place(c)} + ${j}u; if (d < ${headDim}u) { ${text('d', j)} } }`).join(' ')
  const result = (r: number, i: number) => `let inverse = 1.0 / total_${r}[${i}]; ${columns.map((c) => (width === 4
    ? `if (${place(c)} < ${headDim}u) { out[(row * ${headDim}u + ${place(c)}) / 4u] = ${type}(sum_${r}_${i}_${c} * inverse); }`
    : write(c, (d, j) => `out[row * ${headDim}u + ${d}] = ${type}(sum_${r}_${i}_${c}[${j}] * inverse);`))).join(' ')}`
  return `${header([{ name: 'q', type: q.type }, { name: 'k', type: k.type }, { name: 'v', type: v.type }, { name: 'out', type, write: true }], dtype === 'f16', shuffles)}
struct Queries { rows: array<array<vec4<f32>, ${ofQueries / 4}>, 4>, beyond: vec4<f32> }
struct Keys { rows: array<array<vec4<f32>, ${ofKeys / 4}>, 4>, beyond: vec4<f32> }
var<workgroup> queries: array<Queries, ${held(tile)}>;
var<workgroup> keys: array<Keys, ${deep}>;
${q.functions}${k.functions}${v.functions}
${entry(`${tilePlace(ofQueries, causal ? 'last of all heads' : 'first', false)}
  let y = lane / ${wide}u;
  let x = lane % ${wide}u;
  let scale = scalar(0u) * ${Math.LOG2E};
${columns.map((c) => `  let d_${c} = ${headDim % (4 * wide) === 0 ? place(c) : `min(${place(c)}, ${headDim - width}u)`};`).join('\n')}
${eachRow((r) => `var top_${r} = vec4<f32>(-1e29); var total_${r} = vec4<f32>(0.0);`)}
  ${sums((r, i, c) => `var sum_${r}_${i}_${c} = vec4<f32>(0.0);`)}
  let seen = ${causal ? `min(seq_k, first_query + ${ofQueries}u)` : 'seq_k'};
  for (var first_key = 0u; first_key < seen; first_key += ${ofKeys}u) {
    ${scores((r, c, j) => `var score_${r}_${c}_${j} = vec4<f32>(0.0);`)}
    // The next elements of the rows are on their way while those before are multiplied.
${fetchBoth(0)}
${numbers(Math.ceil(headDim / depth)).map((turn) => turn * depth).map((at) => `      workgroupBarrier();
${put('queries', ofQueries, at)}
${put('keys', ofKeys, at)}
      workgroupBarrier();
${at + depth < headDim ? `${fetchBoth(at + depth)}\n` : ''}      for (var l = 0u; l < ${deep}u; l += ${written}u) {
${numbers(written).flatMap((w) => QUADS.map((e) => `        { ${rows.map((r) => `let q_${r} = queries[l + ${w}u].rows[${e}u][${quad(r)}];`).join(' ')} ${keys.map((c) => `let k_${c} = keys[l + ${w}u].rows[${e}u][x + ${c * wide}u];`).join(' ')} ${scores((r, c, j) => `score_${r}_${c}_${j} = fma(q_${r}, vec4<f32>(k_${c}[${j}]), score_${r}_${c}_${j});`)} }`)).join('\n')}
      }`).join('\n')}
${hidden}
${eachRow((r) => `var next_${r} = ${ofRow(r).reduce((a, b) => `max(${a}, ${b})`)};`)}
${joined('next', (a, b) => `max(${a}, ${b})`)}
${eachRow((r) => `next_${r} = max(next_${r}, top_${r}); let kept_${r} = exp2((top_${r} - next_${r}) * scale); top_${r} = next_${r}; let most_${r} = next_${r} * scale;`)}
    ${scores((r, c, j) => `score_${r}_${c}_${j} = exp2(fma(score_${r}_${c}_${j}, vec4<f32>(scale), -most_${r}));`)}
${eachRow((r) => `total_${r} = fma(total_${r}, kept_${r}, ${ofRow(r).reduce((a, b) => `(${a} + ${b})`)});`)}
    ${sums((r, i, c) => `sum_${r}_${i}_${c} *= kept_${r}[${i}];`)}
    // The first values are on their way before threads wait for the weights.
${load('var ', 'a', 'first_key', 0)}
    for (var from_key = 0u; from_key < ${ofKeys}u; from_key += ${weighed}u) {
      workgroupBarrier();
${keys.map((c) => `      { let turn = x + ${c * wide}u - from_key / 4u; if (turn < ${weighed / 4}u) { ${QUADS.flatMap((j) => rows.map((r) => `queries[turn].rows[${j}u][${quad(r)}] = score_${r}_${c}_${j};`)).join(' ')} } }`).join('\n')}
      workgroupBarrier();
      for (var j = 0u; j < ${weighed}u; j += ${2 * together}u) {
        let row = first_key + from_key + j;
${load('let ', 'b', 'row', together)}
${add('a', 0)}
${load('', 'a', 'row', 2 * together)}
${add('b', together)}
      }
    }
  }
${joined('total', (a, b) => `${a} + ${b}`)}
${rows.flatMap((r) => QUADS.map((i) => `  { let query = first_query + 4u * (${quad(r)}) + ${i}u; if (query < seq_q) { let row = q_base + query; ${result(r, i)} } }`)).join('\n')}`, threads)}`
}
