import { entry, header, numbers, step, storage, THREADS, uniformAt, widthFor, working, type Width } from '../../wgsl/header'
import { EXCHANGE, reduction, shuffled, sumOf } from '../../wgsl/rows'
import { dimOf, type BufferName, type KernelShape, type Program } from '../types'

/** Tokens whose sums a thread keeps, and vectors of a row up to which one workgroup reads it twice sooner: more for each token, whose sums cost as much. */
const MOST_TOKENS = 16
const SHORT_ROW = 8 * THREADS
const SHORT_OF_TOKEN = 192
/** Workgroups that leave a sum of each row, which every workgroup of the second step adds up, and those that fill any device known here. */
const MOST_PARTS = 512
const ENOUGH_GROUPS = 1056
/** Rows of which a thread reads a vector together, and vectors of a row of a thread of the second step. */
const TOGETHER = 4
const MOST_EACH = 4
/** Subgroups of a workgroup whose sums one thread adds up. */
const MOST_SUBGROUPS = 16

export interface LongNormBackwardPlan {
  width: Width
  vectors: number
  /** Workgroups of the first step. */
  parts: number
  /** Vectors of a thread of the second step, and its workgroups for a row. */
  each: number
  slabs: number
}

/** Undefined where rows are short, or not few. */
export function planLongNormBackward(tokens: number, length: number): LongNormBackwardPlan | undefined {
  const width = widthFor(length)
  const vectors = length / width
  if (tokens > MOST_TOKENS || vectors <= SHORT_ROW + SHORT_OF_TOKEN * tokens) return undefined
  const each = Math.min(MOST_EACH, Math.ceil((tokens * vectors) / (THREADS * ENOUGH_GROUPS)))
  return { width, vectors, parts: Math.min(MOST_PARTS, Math.ceil(vectors / THREADS)), each, slabs: Math.ceil(vectors / (THREADS * each)) }
}

/** WGSL that hands `write` the number of each value, a u32, and its sum over a workgroup: all values between the same barriers where subgroups are large. */
function leftOf(values: readonly string[], size: number | undefined, write: (k: string, all: string) => string): string {
  if (size === undefined || THREADS / size > MOST_SUBGROUPS) return values.map((value, k) => `  { let all = reduce_sum(${value}, lane); if (lane == 0u) { ${write(`${k}u`, 'all')} } }`).join('\n')
  const count = THREADS / size
  return `${values.map((value, k) => `  { var joined = ${value};\n${shuffled(THREADS, size, (stride) => `joined += subgroupShuffleXor(joined, ${stride});`)}\n  if (lane % ${size}u == 0u) { of_subgroups[${k * count}u + lane / ${size}u] = joined; } }`).join('\n')}
  workgroupBarrier();
  if (lane < ${values.length}u) {
    var all = 0.0;
    for (var i = 0u; i < ${count}u; i++) { all += of_subgroups[lane * ${count}u + i]; }
    ${write('lane', 'all')}
  }`
}

/**
 * Gradients of a normalization of few long rows in two steps. Threads of the first have columns of all rows: they write dweight and, with a mean, dbias,
 * and workgroups leave what they have of the sums of each row. The second adds these up and writes dx. mean and rstd are uniforms, because not every
 * adapter has as many storage buffers.
 */
export function longNormBackward(shape: KernelShape, layer: boolean): Program | undefined {
  const [tokens, length] = [dimOf(shape, 0), dimOf(shape, 1)]
  const plan = planLongNormBackward(tokens, length)
  if (!plan) return undefined
  const { width, vectors, parts, each, slabs } = plan
  const dtype = shape.dtype === 'f16' ? 'f16' : 'f32'
  const [type, vf] = [storage(dtype, width), working(width)]
  const lines = (count: number, text: (k: number) => string) => numbers(count).map(text).join('\n')
  const saved = { type: 'f32', uniform: Math.ceil(tokens / 4) }
  const inputs = [{ name: 'grad_in', type }, { name: 'x_in', type }, { name: 'weight_in', type }, ...(layer ? [{ name: 'mean_of', ...saved }] : []), { name: 'rstd_of', ...saved }]
  const buffers: BufferName[] = [{ input: 0 }, { input: 1 }, { input: 2 }, { input: 3 }, ...(layer ? [{ input: 4 }] : [])]
  const [f16, subgroups] = [dtype === 'f16', shape.subgroups !== undefined]
  const functions = `${EXCHANGE}${reduction('sum', THREADS, (a, b) => `${a} + ${b}`, shape.subgroups)}`
  const h = (x: string, row: string) => (layer ? `(${x} - ${uniformAt('mean_of', row)}) * ${uniformAt('rstd_of', row)}` : `${x} * ${uniformAt('rstd_of', row)}`)
  const sums = layer ? ['along', 'plain'] : ['along']
  const fours = numbers(Math.ceil(tokens / TOGETHER)).map((four) => numbers(Math.min(TOGETHER, tokens - four * TOGETHER)).map((k) => four * TOGETHER + k))
  const columns = fours.map((rows) => [
    ...rows.map((t) => `    let grad_${t} = ${vf}(grad_in[column + ${t * vectors}u]); let x_${t} = ${vf}(x_in[column + ${t * vectors}u]);`),
    ...rows.map((t) => `    { let h = ${h(`x_${t}`, `${t}u`)}; let g = grad_${t} * weight; along_${t} += ${sumOf('(g * h)', width)}; dw += grad_${t} * h;${layer ? ` plain_${t} += ${sumOf('g', width)}; db += grad_${t};` : ''} }`),
  ].join('\n')).join('\n')
  const first = `${header([...inputs, { name: 'dweight', type, write: true }, ...(layer ? [{ name: 'dbias', type, write: true }] : []), { name: 'partial', type: 'f32', write: true }], f16, subgroups)}${functions}var<workgroup> of_subgroups: array<f32, ${2 * MOST_TOKENS * MOST_SUBGROUPS}>;

${entry(`  if (group >= ${parts}u) { return; }
${lines(tokens, (t) => sums.map((name) => `  var ${name}_${t} = 0.0;`).join(' '))}
  for (var column = group * ${THREADS}u + lane; column < ${vectors}u; column += ${parts * THREADS}u) {
    let weight = ${vf}(weight_in[column]);
    var dw = ${vf}(0.0);${layer ? ` var db = ${vf}(0.0);` : ''}
${columns}
    dweight[column] = ${type}(dw);${layer ? ` dbias[column] = ${type}(db);` : ''}
  }
${leftOf(Array.from({ length: tokens }, (_, t) => sums.map((name) => `${name}_${t}`)).flat(), shape.subgroups, (k, all) => `partial[${k} * ${parts}u + group] = ${all};`)}`)}`
  const second = `${header([...inputs, { name: 'partial', type: 'f32' }, { name: 'out', type, write: true }], f16, subgroups)}${functions}
${entry(`  let place = ${slabs * tokens - 1}u - min(group, ${slabs * tokens - 1}u);
  let row = place / ${slabs}u;
  let begin = place % ${slabs}u * ${each * THREADS}u + lane;
${lines(each, (k) => `  let at_${k} = min(begin + ${k * THREADS}u, ${vectors - 1}u); let grad_${k} = ${vf}(grad_in[row * ${vectors}u + at_${k}]); let x_${k} = ${vf}(x_in[row * ${vectors}u + at_${k}]); let weight_${k} = ${vf}(weight_in[at_${k}]);`)}
${sums.map((name, j) => `  var ${name}_part = 0.0;\n  for (var i = lane; i < ${parts}u; i += ${THREADS}u) { ${name}_part += partial[(row * ${sums.length}u + ${j}u) * ${parts}u + i]; }\n  let ${name} = reduce_sum(${name}_part, lane) / f32(${length}u);`).join('\n')}
  let rstd = ${uniformAt('rstd_of', 'row')};
  if (group >= ${slabs * tokens}u) { return; }
${lines(each, (k) => `  if (begin + ${k * THREADS}u < ${vectors}u) { out[row * ${vectors}u + at_${k}] = ${type}(rstd * (grad_${k} * weight_${k}${layer ? ' - plain' : ''} - ${h(`x_${k}`, 'row')} * along)); }`)}`)}`
  return {
    scratchBytes: [4 * sums.length * tokens * parts],
    steps: [
      step(first, [...buffers, { output: 1 }, ...(layer ? [{ output: 2 }] : []), { scratch: 0 }], [], parts),
      step(second, [...buffers, { scratch: 0 }, 'output'], [], slabs * tokens),
    ],
  }
}
