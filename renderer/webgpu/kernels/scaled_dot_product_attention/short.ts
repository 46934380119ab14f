import { entry, header, step, storage, THREADS } from '../../wgsl/header'
import { powerOfTwoFrom } from '../../wgsl/rows'
import type { Program } from '../types'
import { keysSeen } from './few'

/** Keys up to which threads have all scores of a query at once; more of them where so few vectors of queries leave tiles nearly empty. */
const FEW_KEYS = 8
const MOST_KEYS = 16
const FEW_VECTORS = 2 ** 17
/** Threads that share a query at most, and how much of their vectors may stand empty. */
const MOST_LANES = 32
const MOST_EMPTY = 1 / 4
/** Vectors of values that a thread loads before the scores are known. */
const EARLY = 16

export const isShort = (queries: number, seen: number, headDim: number): boolean => seen <= FEW_KEYS || (seen <= MOST_KEYS && (queries * headDim) / 4 <= FEW_VECTORS)

/** Queries up to which idle threads cost nothing: workgroups do not fill a device. */
const FEW_QUERIES = 1056

/** Threads that share each of the queries of `length` vectors: neighbours read neighbours. Of few queries, as many as leave each thread fewest vectors. */
export function lanesOf(length: number, queries: number): number {
  if (queries <= FEW_QUERIES) return Math.min(MOST_LANES, powerOfTwoFrom(length))
  let lanes = 1
  for (let more = 1; more <= MOST_LANES && more < 2 * length; more *= 2) if (1 - length / (Math.ceil(length / more) * more) <= MOST_EMPTY) lanes = more
  return lanes
}

/** Attention over a few keys: neighbouring threads share a query, and each has the scores of all keys before it weighs its part of the values. dims: as in kernel.ts. */
export function shortAttention(dtype: 'f32' | 'f16', queries: number, dims: readonly [seqQ: number, seqK: number, heads: number, kvHeads: number, headDim: number], causal: boolean, scale: number): Program {
  const [seqQ, seqK, heads, kvHeads, headDim] = dims
  const seen = keysSeen({ seqQ, seqK, causal })
  const width = headDim % 4 === 0 ? 4 : 1
  const [type, vector] = [storage(dtype, width), width === 4 ? 'vec4<f32>' : 'f32']
  const length = headDim / width
  const lanes = lanesOf(length, queries)
  const columns = Array.from({ length: Math.ceil(length / lanes) }, (_, c) => c)
  const keys = Array.from({ length: seen }, (_, j) => j)
  const quads = Array.from({ length: Math.ceil(seen / 4) }, (_, p) => p)
  const each = (text: (j: number) => string) => keys.map(text).join('\n')
  const product = (a: string, b: string) => (width === 4 ? `dot(${a}, ${b})` : `${a} * ${b}`)
  const whole = lanes * columns.length === length
  const score = (j: number) => `total_${Math.floor(j / 4)}.${'xyzw'[j % 4]}`
  const early = seen * columns.length <= EARLY
  const value = (j: number, c: number) => `${vector}(v[base + ${j}u * length + d_${c}])`
  const first = lanes === 1
    ? quads.map((p) => `  var total_${p} = part_${p};`).join('\n')
    : `${quads.map((p) => `  parts[lane * ${quads.length}u + ${p}u] = part_${p};`).join('\n')}
  workgroupBarrier();
${quads.map((p) => `  var total_${p} = vec4<f32>(0.0);`).join('\n')}
  for (var t = lane - l; t < lane - l + ${lanes}u; t++) { ${quads.map((p) => `total_${p} += parts[t * ${quads.length}u + ${p}u];`).join(' ')} }`
  const wgsl = `${header([{ name: 'q', type }, { name: 'k', type }, { name: 'v', type }, { name: 'out', type, write: true }], dtype === 'f16')}
const length = ${length}u;
${lanes > 1 ? `var<workgroup> parts: array<vec4<f32>, ${THREADS * quads.length}>;\n` : ''}${entry(`  let wanted = group * ${THREADS / lanes}u + lane / ${lanes}u;
  let query = min(wanted, dim(0u) - 1u);
  let l = lane % ${lanes}u;
  let head = query / ${seqQ}u;
  let base = (head / ${heads}u * ${kvHeads}u + head % ${heads}u / ${heads / kvHeads}u) * ${seqK}u * length;
${columns.map((c) => `  let at_${c} = l + ${c * lanes}u; let d_${c} = min(at_${c}, length - 1u); let q_${c} = ${whole ? '' : `select(${vector}(0.0), `}${vector}(q[query * length + d_${c}])${whole ? '' : `, at_${c} < length)`};`).join('\n')}
${each((j) => `  let score_${j} = ${columns.map((c) => product(`q_${c}`, `${vector}(k[base + ${j}u * length + d_${c}])`)).join(' + ')};`)}
${early ? each((j) => columns.map((c) => `  let v_${j}_${c} = ${value(j, c)};`).join(' ')) : ''}
${quads.map((p) => `  let part_${p} = vec4<f32>(${[0, 1, 2, 3].map((i) => (4 * p + i < seen ? `score_${4 * p + i}` : '0.0')).join(', ')});`).join('\n')}
${first}
${causal ? each((j) => `  if (${j}u > query % ${seqQ}u) { ${score(j)} = -1e30; }`) : ''}
  var top = ${score(0)};
${each((j) => `  top = max(top, ${score(j)});`)}
  var total = 0.0;
${each((j) => `  let weight_${j} = ${causal ? `select(exp((${score(j)} - top) * scalar(0u)), 0.0, ${j}u > query % ${seqQ}u)` : `exp((${score(j)} - top) * scalar(0u))`}; total += weight_${j};`)}
  if (wanted < dim(0u)) {
${columns.map((c) => `    ${whole ? '' : `if (at_${c} < length) `}{ out[query * length + at_${c}] = ${type}((${keys.map((j) => `weight_${j} * ${early ? `v_${j}_${c}` : value(j, c)}`).join(' + ')}) / total); }`).join('\n')}
  }`)}`
  return { scratchBytes: [], steps: [step(wgsl, [{ input: 0 }, { input: 1 }, { input: 2 }, 'output'], [queries], Math.ceil(queries / (THREADS / lanes)), [scale])] }
}
