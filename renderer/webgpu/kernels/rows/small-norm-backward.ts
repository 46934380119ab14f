import { ARRIVAL_FUNCTIONS, arrivalBytes, ARRIVALS, eachArrival } from '../../wgsl/arrivals'
import { entry, header, step, storage, THREADS, uniformAt, working } from '../../wgsl/header'
import { EXCHANGE, planRows, powerOfTwoFrom, reduction, sumOf } from '../../wgsl/rows'
import { dimOf, type BufferName, type KernelShape, type Program } from '../types'

/** Elements up to which further dispatches cost more than what they do: everything is read twice. */
const FEW_ELEMENTS = 2 ** 20
/** Vectors of a row up to which one workgroup reads it twice sooner than many do in three dispatches. */
const LONGEST_ROW = 32 * THREADS
/** Columns that a workgroup is wide: fewer of 16 bytes or more where a thread would add up more tokens than `WANTED_TOKENS`. */
const WIDE = 32
const NARROW_BYTES = 32
const WANTED_TOKENS = 4
const MOST_TOKENS = 8
/** Tokens of a uniform, and pieces of the tokens whose sums a workgroup joins. */
const MOST_UNIFORM = 16_384
const MOST_PIECES = 128

/**
 * dx of a normalization by some workgroups, and by others the sums over tokens for dweight and, with a mean, dbias: pieces of the tokens,
 * which the last workgroup of their columns joins. Undefined where there is more to do. With a mean, that and rstd are uniforms, because not
 * every adapter has as many storage buffers.
 */
export function smallNormBackward(shape: KernelShape, layer: boolean): Program | undefined {
  const [tokens, length] = [dimOf(shape, 0), dimOf(shape, 1)]
  const { width, vectors, lanes, rowsPerGroup, groups } = planRows(tokens, length)
  let wide = Math.min(WIDE, powerOfTwoFrom(vectors))
  while (wide * width * 4 > NARROW_BYTES && tokens > (WANTED_TOKENS * THREADS) / wide) wide /= 2
  const high = THREADS / wide
  const pieces = Math.ceil(tokens / (MOST_TOKENS * high))
  if (tokens * length > FEW_ELEMENTS || vectors > LONGEST_ROW || pieces > MOST_PIECES || (layer && tokens > MOST_UNIFORM)) return undefined
  const perPiece = Math.ceil(tokens / pieces)
  const dtype = shape.dtype === 'f16' ? 'f16' : 'f32'
  const [type, vf] = [storage(dtype, width), working(width)]
  const uniform = layer ? { uniform: Math.ceil(tokens / 4) } : {}
  const loads = (at: string) => `let grad = ${vf}(grad_in[${at}]); let rstd = ${layer ? uniformAt('rstd_of', 'row') : 'rstd_of[row]'}; let h = ${layer ? `(${vf}(x_in[${at}]) - ${uniformAt('mean_of', 'row')})` : `${vf}(x_in[${at}])`} * rstd;`
  const bindings = [
    { name: 'grad_in', type }, { name: 'x_in', type }, { name: 'weight_in', type }, ...(layer ? [{ name: 'mean_of', type: 'f32', ...uniform }] : []), { name: 'rstd_of', type: 'f32', ...uniform },
    { name: 'out', type, write: true }, { name: 'dweight', type, write: true }, ...(layer ? [{ name: 'dbias', type, write: true }] : []), ...(pieces > 1 ? [ARRIVALS] : []),
  ]
  const joins: string[] = []
  for (let left = high; left > 1; ) {
    const by = left % 4 === 0 ? 4 : 2
    left /= by
    const join = (rows: string) => `${rows}[lane] = ${by === 4 ? `(${rows}[lane] + ${rows}[lane + ${left * wide}u]) + (${rows}[lane + ${2 * left * wide}u] + ${rows}[lane + ${3 * left * wide}u])` : `${rows}[lane] + ${rows}[lane + ${left * wide}u]`};`
    joins.push(`    if (lane < ${left * wide}u) { ${join('rows')}${layer ? ` ${join('plain_rows')}` : ''} }\n    workgroupBarrier();`)
  }
  const written = `if (lane < ${wide}u && column < vectors) { dweight[column] = ${type}(rows[lane]);${layer ? ` dbias[column] = ${type}(plain_rows[lane]);` : ''} }`
  const sides = width === 4 ? ['.x', '.y', '.z', '.w'] : ['']
  const words = [...sides.map((side) => ['sum', 'rows', side] as const), ...(layer ? sides.map((side) => ['plain_sum', 'plain_rows', side] as const) : [])]
  const joined = `    let places = column * ${pieces * words.length}u;
    if (lane < ${wide}u && column < vectors) {
${words.map(([, rows, side], j) => `      leave(places + piece * ${words.length}u + ${j}u, ${rows}[lane]${side});`).join('\n')}
    }
    if (is_last(vectors * ${pieces * words.length}u + block, ${pieces}u, lane)) {
      sum = ${vf}(0.0);
      plain_sum = ${vf}(0.0);
      if (column < vectors) {
${eachArrival(`lane / ${wide}u`, `${pieces}u`, `${high}u`, (i, j) => `places + (${i}) * ${words.length}u + ${j}u`, (value, j) => `${words[j]![0]}${words[j]![2]} += ${value};`, { words: words.length })}
      }
      rows[lane] = sum;
${layer ? '      plain_rows[lane] = plain_sum;\n' : ''}      workgroupBarrier();
${joins.join('\n')}
      ${written}
    }`
  const wgsl = `${header(bindings, dtype === 'f16', shape.subgroups !== undefined)}${EXCHANGE}
var<workgroup> rows: array<${vf}, ${THREADS}>;
${layer ? `var<workgroup> plain_rows: array<${vf}, ${THREADS}>;\n` : ''}${pieces > 1 ? ARRIVAL_FUNCTIONS : ''}${reduction('sum', lanes, (a, b) => `${a} + ${b}`, shape.subgroups)}
${entry(`  let tokens = dim(0u);
  let vectors = dim(1u);
  var sum = ${vf}(0.0);
  var plain_sum = ${vf}(0.0);
  if (group < dim(3u)) {
    let l = lane % ${lanes}u;
    let wanted = group * ${rowsPerGroup}u + lane / ${lanes}u;
    let row = min(wanted, tokens - 1u);
    for (var i = l; i < vectors; i += ${lanes}u) { ${loads('row * vectors + i')} let g = grad * ${vf}(weight_in[i]); sum += g * h; plain_sum += g; }
    let along = reduce_sum(${sumOf('sum', width)}, lane) / f32(dim(2u));
${layer ? `    let plain = reduce_sum(${sumOf('plain_sum', width)}, lane) / f32(dim(2u));` : '    let plain = 0.0;'}
    if (wanted < tokens) {
      for (var i = l; i < vectors; i += ${lanes}u) { ${loads('row * vectors + i')} out[row * vectors + i] = ${type}(rstd * (grad * ${vf}(weight_in[i]) - plain - h * along)); }
    }
  } else {
    let block = (group - dim(3u)) % dim(4u);
    let piece = (group - dim(3u)) / dim(4u);
    let column = block * ${wide}u + lane % ${wide}u;
${pieces > 1 ? `    if (piece >= ${pieces}u) { return; }\n` : ''}    if (column < vectors) {
      for (var row = piece * ${perPiece}u + lane / ${wide}u; row < min(tokens, (piece + 1u) * ${perPiece}u); row += ${high}u) { ${loads('row * vectors + column')} sum += grad * h; plain_sum += grad; }
    }
    rows[lane] = sum;
${layer ? '    plain_rows[lane] = plain_sum;\n' : ''}    workgroupBarrier();
${joins.join('\n')}
${pieces > 1 ? joined : `    ${written}`}
  }`)}`
  const buffers: BufferName[] = [{ input: 0 }, { input: 1 }, { input: 2 }, { input: 3 }, ...(layer ? [{ input: 4 }] : []), 'output', { output: 1 }, ...(layer ? [{ output: 2 }] : []), ...(pieces > 1 ? [{ scratch: 0 }] : [])]
  const blocks = Math.ceil(vectors / wide)
  return { scratchBytes: pieces > 1 ? [arrivalBytes(vectors * pieces * words.length, blocks)] : [], steps: [step(wgsl, buffers, [tokens, vectors, length, groups, blocks], groups + blocks * pieces)] }
}
