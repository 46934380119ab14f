import { entry, header, numbers, step, storage, widthFor } from '../../wgsl/header'
import type { DeviceLimits, Program } from '../types'
import { evenly } from '../matmul/evenly'
import { keysSeen, memoryForKeys, sharingKeys, type FewAttention } from './few'
import { loader } from './loader'

/** Threads of a workgroup, queries of one, most first, that neighbouring threads have, and keys whose scores a thread finds together. */
const THREADS = 256
const QUERIES = [64, 32, 16]
const TOGETHER = 2
/** Longest heads, whose queries and sums stay in registers, and keys: of more, parts of them are workgroups of their own. */
const LONGEST_HEAD = 64
const FEWEST_KEYS = 33
const MOST_KEYS = 1024
/** Workgroups that leave little of a device idle. */
const FILLED = 200
/** Bytes of what threads leave each other at the end. */
const ENDS = 8 * THREADS

export interface SpreadKeysPlan {
  /** Queries of a workgroup, threads that share the keys of each, workgroups of those that share keys. */
  rows: number
  shares: number
  blocks: number
  vectors: number
  /** Keys in workgroup memory at a time, and those whose scores a thread finds together. */
  chunk: number
  keys: number
}

/** How workgroups take queries; undefined where heads or keys are long, or keys few. */
export function planSpreadKeys(of: FewAttention, device: DeviceLimits): SpreadKeysPlan | undefined {
  const seen = keysSeen(of)
  if (of.headDim > LONGEST_HEAD || seen < FEWEST_KEYS || seen > MOST_KEYS) return undefined
  const vectors = Math.ceil(of.headDim / 4)
  const fit = Math.floor(memoryForKeys(device, ENDS) / (32 * vectors))
  const all = sharingKeys(of)
  const sources = of.batch * of.kvHeads
  const plans = QUERIES.map((rows): SpreadKeysPlan => {
    const shares = THREADS / rows
    const keys = Math.max(1, Math.min(TOGETHER, Math.floor(fit / shares), Math.ceil(seen / shares)))
    const unit = keys * shares
    const chunk = Math.min(Math.floor(fit / unit), Math.ceil(seen / unit)) * unit
    return { rows, shares, blocks: evenly(all, rows).count, vectors, chunk, keys }
  }).filter(({ chunk }) => chunk * vectors >= THREADS)
  return plans.find(({ blocks }) => sources * blocks >= FILLED) ?? plans.at(-1)
}

/**
 * Attention of some queries in one dispatch: neighbouring threads have a query each and read the same keys, which lie in workgroup memory, some at a time
 * (Dao et al. 2022, FlashAttention); others have the same queries and other keys. What these have is added up at the end. dims: keys, sources of keys.
 */
export function spreadKeys(of: FewAttention, plan: SpreadKeysPlan): Program {
  const sources = of.batch * of.kvHeads
  return { scratchBytes: [], steps: [step(textOf(of, plan), [{ input: 0 }, { input: 1 }, { input: 2 }, 'output'], [of.seqK, sources], sources * plan.blocks, [of.scale])] }
}

function textOf(of: FewAttention, { rows, shares, blocks, vectors, chunk, keys }: SpreadKeysPlan): string {
  const { dtype, headDim, causal, seqQ } = of
  const width = widthFor(headDim)
  const type = storage(dtype, width)
  const [columns, every, sides] = [numbers(vectors), numbers(keys), ['x', 'y', 'z', 'w']]
  const [all, seen] = [sharingKeys(of), keysSeen(of)]
  const loads = Math.ceil((chunk * vectors) / THREADS)
  const checked = causal || seen % (keys * shares) !== 0
  const atOnce = Math.min(4, Math.floor((chunk * vectors) / THREADS))
  const rounds = Array.from({ length: Math.ceil(vectors / atOnce) }, (_, r) => columns.slice(r * atOnce, (r + 1) * atOnce))
  const cell = (at: string) => `keys[(${at}) / ${vectors}u][(${at}) % ${vectors}u]`
  return `${header([{ name: 'q', type }, { name: 'k', type }, { name: 'v', type }, { name: 'out', type, write: true }], dtype === 'f16')}
// Nested: the checks of indices that a browser adds are needed once for each row.
var<workgroup> keys: array<array<vec4<f32>, ${vectors}>, ${chunk}>;
var<workgroup> values: array<array<vec4<f32>, ${vectors}>, ${chunk}>;
var<workgroup> ends: array<vec2<f32>, ${THREADS}>;
${['q', 'k', 'v'].map((name) => loader(name, headDim)).join('')}${entry(`  let source = group / ${blocks}u;
  if (source >= dim(1u)) { return; }
  let first_row = group % ${blocks}u * ${rows}u;
  let share = lane / ${rows}u;
  let base = source * dim(0u);
  let row = source * ${all}u + min(first_row + lane % ${rows}u, ${all - 1}u);
  let own_end = ${causal ? `min(${seen}u, row % ${seqQ}u + 1u)` : `${seen}u`};
  var top = -1e30;
  var total = 0.0;
${columns.map((c) => `  let q_${c} = load_q(row, ${c}u) * (scalar(0u) * ${Math.LOG2E}); var sum_${c} = vec4<f32>(0.0);`).join('\n')}
  let seen = ${causal && of.heads === of.kvHeads ? `min(${seen}u, first_row + ${rows}u)` : `${seen}u`};
  for (var start = 0u; start < seen; start += ${chunk}u) {
${numbers(loads).map((u) => `    let i_${u} = ${(u + 1) * THREADS <= chunk * vectors ? `lane + ${u * THREADS}u` : `min(lane + ${u * THREADS}u, ${chunk * vectors - 1}u)`}; let at_${u} = base + min(start + i_${u} / ${vectors}u, ${of.seqK - 1}u); let k_in_${u} = load_k(at_${u}, i_${u} % ${vectors}u); let v_in_${u} = load_v(at_${u}, i_${u} % ${vectors}u);`).join('\n')}
    workgroupBarrier();
${numbers(loads).map((u) => `    keys[i_${u} / ${vectors}u][i_${u} % ${vectors}u] = k_in_${u}; values[i_${u} / ${vectors}u][i_${u} % ${vectors}u] = v_in_${u};`).join('\n')}
    workgroupBarrier();
    let count = min(${chunk}u, seen - start);
    for (var j = share; j < count; j += ${keys * shares}u) {
${every.map((u) => `      let key_${u} = ${u === 0 ? 'j' : `j + ${u * shares}u`}; var score_${u} = 0.0;`).join('\n')}
${columns.map((c) => `      { ${every.map((u) => `let k_${u} = keys[key_${u}][${c}];`).join(' ')}
${sides.map((side) => `        ${every.map((u) => `score_${u} = fma(q_${c}.${side}, k_${u}.${side}, score_${u});`).join(' ')}`).join('\n')} }`).join('\n')}
${checked ? every.map((u) => `      score_${u} = select(-1e30, score_${u}, start + key_${u} < own_end);`).join('\n') : ''}
      let next = ${every.reduce((text, u) => `max(${text}, score_${u})`, 'top')};
      let kept = exp2(top - next);
      top = next;
${every.map((u) => `      let weight_${u} = exp2(score_${u} - next);`).join('\n')}
      total = fma(total, kept, ${every.map((u) => `weight_${u}`).join(' + ')});
${columns.map((c) => `      { ${every.map((u) => `let v_${u} = values[key_${u}][${c}];`).join(' ')} sum_${c} *= kept; ${every.map((u) => `sum_${c} = fma(vec4<f32>(weight_${u}), v_${u}, sum_${c});`).join(' ')} }`).join('\n')}
    }
  }
  ends[lane] = vec2<f32>(top, total);
  workgroupBarrier();
  var highest = top;
  for (var s = 0u; s < ${shares}u; s++) { highest = max(highest, ends[s * ${rows}u + lane % ${rows}u].x); }
  var whole = 0.0;
  for (var s = 0u; s < ${shares}u; s++) { let end = ends[s * ${rows}u + lane % ${rows}u]; whole += exp2(end.x - highest) * end.y; }
  let factor = exp2(top - highest) / whole;
${rounds.map((here) => `  workgroupBarrier();
${here.map((c, i) => `  { let at = lane + ${i * THREADS}u; ${cell('at')} = sum_${c} * factor; }`).join('\n')}
  workgroupBarrier();
  for (var i = lane; i < ${rows * here.length}u; i += ${THREADS}u) {
    let own = i / ${here.length}u;
    let c = i % ${here.length}u;
    var sum = vec4<f32>(0.0);
    for (var s = 0u; s < ${shares}u; s++) { let at = c * ${THREADS}u + s * ${rows}u + own; sum += ${cell('at')}; }
    if (first_row + own < ${all}u) {
      let to = source * ${all}u + first_row + own;
      ${width === 4 ? `out[to * ${vectors}u + ${here[0]}u + c] = ${type}(sum);` : numbers(4).map((i) => `if (4u * (${here[0]}u + c) + ${i}u < ${headDim}u) { out[to * ${headDim}u + 4u * (${here[0]}u + c) + ${i}u] = ${type}(sum[${i}]); }`).join(' ')}
    }
  }`).join('\n')}`, THREADS)}`
}
