import { entry, header, step, storage, THREADS } from '../../wgsl/header'
import type { Program } from '../types'

/** Keys, and elements of a head, up to which a thread computes a query alone: what it reads and adds up stays in registers. */
const FEW_KEYS = 8
const SHORT_HEAD = 128

export const isShort = (seqK: number, headDim: number): boolean => seqK <= FEW_KEYS && headDim <= SHORT_HEAD

/** Attention over a few keys: a thread for each query, which has the scores of all keys before it weighs the values. dims: as in kernel.ts. */
export function shortAttention(dtype: 'f32' | 'f16', queries: number, dims: readonly [seqQ: number, seqK: number, heads: number, kvHeads: number, headDim: number], causal: boolean, scale: number): Program {
  const [seqQ, seqK, heads, kvHeads, headDim] = dims
  const width = headDim % 4 === 0 ? 4 : 1
  const [type, vector] = [storage(dtype, width), width === 4 ? 'vec4<f32>' : 'f32']
  const length = headDim / width
  const keys = Array.from({ length: seqK }, (_, j) => j)
  const each = (text: (j: number) => string) => keys.map(text).join('\n')
  const product = (a: string, b: string) => (width === 4 ? `dot(${a}, ${b})` : `${a} * ${b}`)
  const wgsl = `${header([{ name: 'q', type }, { name: 'k', type }, { name: 'v', type }, { name: 'out', type, write: true }], dtype === 'f16')}
const length = ${length}u;
${entry(`  let query = group * ${THREADS}u + lane;
  if (query >= dim(0u)) { return; }
  let head = query / ${seqQ}u;
  let base = (head / ${heads}u * ${kvHeads}u + head % ${heads}u / ${heads / kvHeads}u) * ${seqK}u * length;
${each((j) => `  var score_${j} = 0.0;`)}
  for (var d = 0u; d < length; d++) {
    let own = ${vector}(q[query * length + d]);
${each((j) => `    score_${j} += ${product('own', `${vector}(k[base + ${j}u * length + d])`)};`)}
  }
${causal ? each((j) => `  if (${j}u > query % ${seqQ}u) { score_${j} = -1e30; }`) : ''}
  var top = score_0;
${each((j) => `  top = max(top, score_${j});`)}
  var total = 0.0;
${each((j) => `  let weight_${j} = ${causal ? `select(exp((score_${j} - top) * scalar(0u)), 0.0, ${j}u > query % ${seqQ}u)` : `exp((score_${j} - top) * scalar(0u))`}; total += weight_${j};`)}
  for (var d = 0u; d < length; d++) {
    var sum = ${vector}(0.0);
${each((j) => `    sum += weight_${j} * ${vector}(v[base + ${j}u * length + d]);`)}
    out[query * length + d] = ${type}(sum / total);
  }`)}`
  return { scratchBytes: [], steps: [step(wgsl, [{ input: 0 }, { input: 1 }, { input: 2 }, 'output'], [queries], Math.ceil(queries / THREADS), [scale])] }
}
