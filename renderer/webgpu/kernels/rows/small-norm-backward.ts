import { entry, header, step, storage, THREADS, uniformAt, working } from '../../wgsl/header'
import { EXCHANGE, planRows, powerOfTwoFrom, reduction, sumOf } from '../../wgsl/rows'
import { dimOf, type BufferName, type KernelShape, type Program } from '../types'

/** Elements up to which further dispatches cost more than what they do. */
const FEW_ELEMENTS = 2 ** 16
/** Columns that a workgroup is wide: fewer of 16 bytes or more where a thread would add up more tokens than `WANTED_TOKENS`. */
const WIDE = 32
const NARROW_BYTES = 32
const WANTED_TOKENS = 4
const MOST_TOKENS = 16

/**
 * dx of a normalization by some workgroups, and by others the sums over tokens for dweight and, with a mean, dbias. Undefined where there is
 * more to do. mean and rstd are uniforms, because not every adapter has as many storage buffers.
 */
export function smallNormBackward(shape: KernelShape, layer: boolean): Program | undefined {
  const [tokens, length] = [dimOf(shape, 0), dimOf(shape, 1)]
  const { width, vectors, lanes, rowsPerGroup, groups } = planRows(tokens, length)
  let wide = Math.min(WIDE, powerOfTwoFrom(vectors))
  while (wide * width * 4 > NARROW_BYTES && tokens > (WANTED_TOKENS * THREADS) / wide) wide /= 2
  const high = THREADS / wide
  if (tokens * length > FEW_ELEMENTS || tokens > MOST_TOKENS * high) return undefined
  const dtype = shape.dtype === 'f16' ? 'f16' : 'f32'
  const [type, vf] = [storage(dtype, width), working(width)]
  const uniform = Math.ceil(tokens / 4)
  const loads = (at: string) => `let grad = ${vf}(grad_in[${at}]); let rstd = ${uniformAt('rstd_of', 'row')}; let h = ${layer ? `(${vf}(x_in[${at}]) - ${uniformAt('mean_of', 'row')})` : `${vf}(x_in[${at}])`} * rstd;`
  const bindings = [
    { name: 'grad_in', type }, { name: 'x_in', type }, { name: 'weight_in', type }, ...(layer ? [{ name: 'mean_of', type: 'f32', uniform }] : []), { name: 'rstd_of', type: 'f32', uniform },
    { name: 'out', type, write: true }, { name: 'dweight', type, write: true }, ...(layer ? [{ name: 'dbias', type, write: true }] : []),
  ]
  const joins: string[] = []
  for (let left = high; left > 1; ) {
    const by = left % 4 === 0 ? 4 : 2
    left /= by
    const join = (rows: string) => `${rows}[lane] = ${by === 4 ? `(${rows}[lane] + ${rows}[lane + ${left * wide}u]) + (${rows}[lane + ${2 * left * wide}u] + ${rows}[lane + ${3 * left * wide}u])` : `${rows}[lane] + ${rows}[lane + ${left * wide}u]`};`
    joins.push(`    if (lane < ${left * wide}u) { ${join('rows')}${layer ? ` ${join('plain_rows')}` : ''} }\n    workgroupBarrier();`)
  }
  const wgsl = `${header(bindings, dtype === 'f16', shape.subgroups !== undefined)}${EXCHANGE}
var<workgroup> rows: array<${vf}, ${THREADS}>;
${layer ? `var<workgroup> plain_rows: array<${vf}, ${THREADS}>;\n` : ''}${reduction('sum', lanes, (a, b) => `${a} + ${b}`, shape.subgroups)}
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
    let column = (group - dim(3u)) * ${wide}u + lane % ${wide}u;
    if (column < vectors) {
      for (var row = lane / ${wide}u; row < tokens; row += ${high}u) { ${loads('row * vectors + column')} sum += grad * h; plain_sum += grad; }
    }
    rows[lane] = sum;
${layer ? '    plain_rows[lane] = plain_sum;\n' : ''}    workgroupBarrier();
${joins.join('\n')}
    if (lane < ${wide}u && column < vectors) { dweight[column] = ${type}(rows[lane]);${layer ? ` dbias[column] = ${type}(plain_rows[lane]);` : ''} }
  }`)}`
  const buffers: BufferName[] = [{ input: 0 }, { input: 1 }, { input: 2 }, { input: 3 }, ...(layer ? [{ input: 4 }] : []), 'output', { output: 1 }, ...(layer ? [{ output: 2 }] : [])]
  return { scratchBytes: [], steps: [step(wgsl, buffers, [tokens, vectors, length, groups], groups + Math.ceil(vectors / wide))] }
}
