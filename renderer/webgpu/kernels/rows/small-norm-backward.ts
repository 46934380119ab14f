import { entry, header, step, storage, THREADS, working } from '../../wgsl/header'
import { EXCHANGE, planRows, powerOfTwoFrom, reduction, sumOf } from '../../wgsl/rows'
import { dimOf, type KernelShape, type Program } from '../types'

/** Elements up to which further dispatches cost more than what they do. */
const FEW_ELEMENTS = 2 ** 16
/** Columns that a workgroup is wide at most, and tokens that a thread adds up. */
const WIDE = 32
const MOST_TOKENS = 16

/**
 * dx of rms_norm by some workgroups, and by others the sums over tokens for dweight. Undefined where there is more to do. layer_norm would
 * need one storage buffer more than every adapter has.
 */
export function smallRmsNormBackward(shape: KernelShape): Program | undefined {
  const [tokens, length] = [dimOf(shape, 0), dimOf(shape, 1)]
  const { width, vectors, lanes, rowsPerGroup, groups } = planRows(tokens, length)
  const wide = Math.min(WIDE, powerOfTwoFrom(vectors))
  const high = THREADS / wide
  if (tokens * length > FEW_ELEMENTS || tokens > MOST_TOKENS * high) return undefined
  const dtype = shape.dtype === 'f16' ? 'f16' : 'f32'
  const [type, vf] = [storage(dtype, width), working(width)]
  const loads = (at: string) => `let grad = ${vf}(grad_in[${at}]); let h = ${vf}(x_in[${at}]) * rstd_of[row];`
  const bindings = [
    { name: 'grad_in', type }, { name: 'x_in', type }, { name: 'weight_in', type }, { name: 'rstd_of', type: 'f32' },
    { name: 'out', type, write: true }, { name: 'dweight', type, write: true },
  ]
  const strides: number[] = []
  for (let stride = high / 2; stride >= 1; stride /= 2) strides.push(stride * wide)
  const wgsl = `${header(bindings, dtype === 'f16', shape.subgroups !== undefined)}${EXCHANGE}
var<workgroup> rows: array<${vf}, ${THREADS}>;
${reduction('sum', lanes, (a, b) => `${a} + ${b}`, shape.subgroups)}
${entry(`  let tokens = dim(0u);
  let vectors = dim(1u);
  var sum = ${vf}(0.0);
  if (group < dim(3u)) {
    let l = lane % ${lanes}u;
    let wanted = group * ${rowsPerGroup}u + lane / ${lanes}u;
    let row = min(wanted, tokens - 1u);
    for (var i = l; i < vectors; i += ${lanes}u) { ${loads('row * vectors + i')} sum += grad * ${vf}(weight_in[i]) * h; }
    let along = reduce_sum(${sumOf('sum', width)}, lane) / f32(dim(2u));
    if (wanted < tokens) {
      for (var i = l; i < vectors; i += ${lanes}u) { ${loads('row * vectors + i')} out[row * vectors + i] = ${type}(rstd_of[row] * (grad * ${vf}(weight_in[i]) - h * along)); }
    }
  } else {
    let column = (group - dim(3u)) * ${wide}u + lane % ${wide}u;
    if (column < vectors) {
      for (var row = lane / ${wide}u; row < tokens; row += ${high}u) { ${loads('row * vectors + column')} sum += grad * h; }
    }
    rows[lane] = sum;
    workgroupBarrier();
${strides.map((stride) => `    if (lane < ${stride}u) { rows[lane] += rows[lane + ${stride}u]; }\n    workgroupBarrier();`).join('\n')}
    if (lane < ${wide}u && column < vectors) { dweight[column] = ${type}(rows[lane]); }
  }`)}`
  return { scratchBytes: [], steps: [step(wgsl, [{ input: 0 }, { input: 1 }, { input: 2 }, { input: 3 }, 'output', { output: 1 }], [tokens, vectors, length, groups], groups + Math.ceil(vectors / wide))] }
}
