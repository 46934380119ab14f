import { entry, header, numbers, step, storage, widthFor, WORKGROUP_BYTES } from '../../wgsl/header'
import type { Program } from '../types'
import { evenly } from '../matmul/evenly'
import { keysSeen, sharingKeys, type FewAttention } from './few'
import { loader } from './loader'

/** Threads of a workgroup: as leave fewest idle. */
const THREADS = [128, 64]
/** Keys of a source at most, and keys that are more than one thread has the scores of at once (short.ts). */
const MOST = 128
const FEWEST_KEYS = 9
/** Longest heads, of which queries and sums stay in registers with a workgroup's keys in memory, and queries that fill any device known here. */
const LONGEST_HEAD = 32
const FEWEST_QUERIES = 2 ** 13
/** Keys whose scores a thread finds together. */
const MOST_KEYS = 8

export interface OwnQueryPlan {
  threads: number
  /** Sources of keys that a workgroup has, or workgroups that share the queries of one, and queries of a source in a workgroup. */
  sources: number
  blocks: number
  rows: number
  /** Keys of each in workgroup memory at once, and those whose scores a thread has together. */
  chunk: number
  keys: number
}

/** Whether a thread takes a query alone. */
export const isOwnQuery = (of: FewAttention): boolean =>
  of.headDim <= LONGEST_HEAD && keysSeen(of) >= FEWEST_KEYS && keysSeen(of) <= MOST && of.batch * of.heads * of.seqQ >= FEWEST_QUERIES

export function planOwnQuery(of: FewAttention): OwnQueryPlan {
  const [all, seen] = [sharingKeys(of), keysSeen(of)]
  const usedBy = (threads: number) => (all > threads ? all / (Math.ceil(all / threads) * threads) : (Math.floor(threads / all) * all) / threads)
  const threads = THREADS.reduce((best, count) => (usedBy(count) > usedBy(best) ? count : best))
  const { count: blocks, size: rows } = evenly(all, threads)
  const keysThatFit = Math.floor(WORKGROUP_BYTES / (32 * Math.ceil(of.headDim / 4)))
  const sources = blocks > 1 ? 1 : Math.min(Math.floor(threads / all), Math.floor(keysThatFit / MOST_KEYS))
  const chunks = Math.ceil(seen / Math.floor(keysThatFit / sources))
  const chunk = Math.ceil(seen / chunks)
  return { threads, sources, blocks, rows, chunk, keys: Math.ceil(chunk / Math.ceil(chunk / MOST_KEYS)) }
}

/**
 * Attention of some queries and keys of short heads, many of them: a thread has a query and the sums of its values in registers, and meets all keys, which lie in workgroup
 * memory (Dao et al. 2022, FlashAttention). Threads exchange nothing. dims: keys, sources of keys.
 */
export function ownQuery(of: FewAttention): Program {
  const plan = planOwnQuery(of)
  const all = of.batch * of.kvHeads
  return { scratchBytes: [], steps: [step(textOf(of, plan), [{ input: 0 }, { input: 1 }, { input: 2 }, 'output'], [of.seqK, all], Math.ceil(all / plan.sources) * plan.blocks, [of.scale])] }
}

function textOf(of: FewAttention, { threads, sources, blocks, rows, chunk, keys }: OwnQueryPlan): string {
  const { dtype, headDim, causal, seqQ } = of
  const width = widthFor(headDim)
  const type = storage(dtype, width)
  const vectors = Math.ceil(headDim / 4)
  const [columns, every, sides] = [numbers(vectors), numbers(keys), ['x', 'y', 'z', 'w']]
  const [all, seen, held] = [sharingKeys(of), keysSeen(of), sources * chunk]
  // Results are written by neighbours beside each other, where they fit the memory of the keys.
  const staged = width === 4 && sources * rows <= held
  const whole = seen % chunk === 0 && chunk % keys === 0 && !causal
  const written = (c: number) => width === 4 ? `out[row * ${vectors}u + ${c}u] = ${type}(sum_${c} * inverse);`
    : sides.filter((_, i) => 4 * c + i < headDim).map((side, i) => `out[row * ${headDim}u + ${4 * c + i}u] = ${type}(sum_${c}.${side} * inverse);`).join(' ')
  return `${header([{ name: 'q', type }, { name: 'k', type }, { name: 'v', type }, { name: 'out', type, write: true }], dtype === 'f16')}
// Nested: the checks of indices that a browser adds are needed once for each row.
var<workgroup> keys: array<array<vec4<f32>, ${vectors}>, ${held}>;
var<workgroup> values: array<array<vec4<f32>, ${vectors}>, ${held}>;
${['q', 'k', 'v'].map((name) => loader(name, headDim)).join('')}${entry(`  let source = group ${blocks > 1 ? `/ ${blocks}u` : `* ${sources}u`};
  let first_row = ${blocks > 1 ? `group % ${blocks}u * ${rows}u` : '0u'};
  if (source >= dim(1u)) { return; }
  let own = min(lane / ${rows}u, ${sources - 1}u);
  let live = lane < ${sources * rows}u && source + own < dim(1u)${blocks > 1 ? ` && first_row + lane < ${all}u` : ''};
  let row = min(source + own, dim(1u) - 1u) * ${all}u + ${blocks > 1 ? `min(first_row + lane, ${all - 1}u)` : `lane % ${all}u`};
${columns.map((c) => `  let q_${c} = load_q(row, ${c}u) * (scalar(0u) * ${Math.LOG2E}); var sum_${c} = vec4<f32>(0.0);`).join('\n')}
  var top = -1e30;
  var total = 0.0;
  for (var start = 0u; start < ${seen}u; start += ${chunk}u) {
    workgroupBarrier();
    for (var i = lane; i < ${held * vectors}u; i += ${threads}u) {
      let place = i / ${vectors}u;
      let at = min(source + place / ${chunk}u, dim(1u) - 1u) * dim(0u) + min(start + place % ${chunk}u, dim(0u) - 1u);
      keys[place][i % ${vectors}u] = load_k(at, i % ${vectors}u);
      values[place][i % ${vectors}u] = load_v(at, i % ${vectors}u);
    }
    workgroupBarrier();
    let count = min(${chunk}u, max(${causal ? `min(${seen}u, row % ${seqQ}u + 1u)` : `${seen}u`}, start) - start);
    for (var j = 0u; j < count; j += ${keys}u) {
${every.map((u) => `      let at_${u} = own * ${chunk}u + min(j + ${u}u, ${chunk - 1}u); var score_${u} = 0.0;`).join('\n')}
${columns.map((c) => `      { ${every.map((u) => `let k_${u} = keys[at_${u}][${c}u];`).join(' ')}
${sides.map((side) => `        ${every.map((u) => `score_${u} = fma(q_${c}.${side}, k_${u}.${side}, score_${u});`).join(' ')}`).join('\n')} }`).join('\n')}
${whole ? '' : every.slice(1).map((u) => `      score_${u} = select(-1e30, score_${u}, j + ${u}u < count);`).join('\n')}
      let next = ${every.reduce((text, u) => `max(${text}, score_${u})`, 'top')};
      let kept = exp2(top - next);
      top = next;
${every.map((u) => `      let weight_${u} = exp2(score_${u} - next);`).join('\n')}
      total = fma(total, kept, ${every.map((u) => `weight_${u}`).join(' + ')});
${columns.map((c) => `      { ${every.map((u) => `let v_${u} = values[at_${u}][${c}u];`).join(' ')} sum_${c} *= kept; ${every.map((u) => `sum_${c} = fma(vec4<f32>(weight_${u}), v_${u}, sum_${c});`).join(' ')} }`).join('\n')}
    }
  }
  let inverse = 1.0 / total;
${staged ? `  workgroupBarrier();
  if (lane < ${sources * rows}u) { ${columns.map((c) => `keys[lane][${c}u] = sum_${c} * inverse;`).join(' ')} }
  workgroupBarrier();
  let some = ${blocks > 1 ? `min(${rows}u, ${all}u - first_row) * ${vectors}u` : `min(${sources}u, dim(1u) - source) * ${all * vectors}u`};
  for (var i = lane; i < some; i += ${threads}u) { out[source * ${all * vectors}u + first_row * ${vectors}u + i] = ${type}(keys[i / ${vectors}u][i % ${vectors}u]); }`
    : `  if (live) { ${columns.map(written).join(' ')} }`}`, threads)}`
}
