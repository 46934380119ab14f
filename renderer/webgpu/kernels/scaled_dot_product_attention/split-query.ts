import { entry, header, numbers, step, storage, widthFor } from '../../wgsl/header'
import type { DeviceLimits, Program } from '../types'
import { evenly } from '../matmul/evenly'
import { keysSeen, memoryForKeys, sharingKeys, type FewAttention } from './few'
import { loader } from './loader'

/** Vectors of a query, of the sums of its values and of a key that a thread has at most. */
const MOST_VECTORS = 8
const LONGEST_HEAD = 128
/** Threads of a subgroup that take part, and threads of a workgroup. */
const SUBGROUP = 32
const THREADS = 128
/** Keys at least, and at most: longer sequences are worth parts of their own. */
const FEWEST_KEYS = 9
const MOST_KEYS = 1024
/** Workgroups that leave little of a device idle, and most threads that share the keys of a query. */
const FILLED = 264
const FEWEST = 66
const MOST_SHARES = 16
/** Keys whose scores a thread finds together. */
const KEYS = [4, 2, 1]
/** Threads that take queries with all of their keys: vectors of a thread, and those it may have where it leaves fewer of them empty than MOST_EMPTY or than more threads do; keys whose scores it finds together. */
const WHOLE = { vectors: 4, more: 8, together: 8 }
const MOST_EMPTY = 1 / 8
/** Their workgroups, the most queries first: more threads share keys that are many. The share of a workgroup's queries that there must be, and workgroups below which other kernels are faster. */
const GROUPS = [{ threads: 256, queries: 2 }, { threads: 256, queries: 1 }, { threads: 128, queries: 1 }]
const LEAST_USED = 0.6
const FEWEST_WHOLE = 132
/** Most keys: tiles take no longer for more. A single key is faster without exchange; up to FEW_KEYS are so where there is little to multiply (vectors of queries, times keys). */
const MOST_OF_WHOLE = 40
const FEW_KEYS = 8
const LEAST_PRODUCTS = 1.1e6
/** Heads of fewer vectors have threads of fewer: neighbours read neighbouring vectors. */
const SHORT_HEAD = 8
const VECTORS_OF_SHORT = 2

export interface SplitQueryPlan {
  threads: number
  /** Threads that share a head's elements, those that share a query's keys, and queries of a thread. */
  slices: number
  shares: number
  /** Neighbouring threads of different queries: those that read the same vectors stand beside each other. */
  apart: number
  queries: number
  /** Vectors of a thread, and vectors of a row of keys in workgroup memory, of each slice. */
  vectors: number
  pitch: number
  /** Keys in workgroup memory at a time, and those whose scores a thread finds together. */
  chunk: number
  keys: number
  /** Queries of a workgroup, and workgroups of those that share keys. */
  rows: number
  blocks: number
}

/** How threads share the keys of each query; undefined where heads or keys are long, or subgroups small. */
export function planSplitQuery(of: FewAttention, device: DeviceLimits): SplitQueryPlan | undefined {
  const { subgroups = 1 } = device
  const seen = keysSeen(of)
  if (of.headDim > LONGEST_HEAD || seen < FEWEST_KEYS || seen > MOST_KEYS || subgroups < 2) return undefined
  const ofHead = Math.ceil(of.headDim / 4)
  let slices = 1
  while (slices * MOST_VECTORS < ofHead) slices *= 2
  const vectors = Math.ceil(ofHead / slices)
  // Rows of keys begin in different banks.
  let pitch = vectors
  while (slices < 8 && pitch % (8 / slices) !== 1 % (8 / slices)) pitch++
  const fit = Math.floor((memoryForKeys(device) - 16) / (32 * pitch * slices))
  const all = sharingKeys(of)
  const sources = of.batch * of.kvHeads
  const planned = (threads: number, shares: number, queries: number): SplitQueryPlan => {
    const most = (threads / (shares * slices)) * queries
    const keys = KEYS.find((count) => count * shares <= fit && count * shares <= Math.ceil(seen / shares) * shares)!
    const unit = keys * shares
    const chunk = Math.min(Math.floor(fit / unit), Math.ceil(seen / unit)) * unit
    const { count: blocks, size: rows } = evenly(all, most)
    return { threads, slices, shares, apart: 1, queries, vectors, pitch, chunk, keys, rows: blocks === 1 ? rows : most, blocks }
  }
  const shares = [2, 4, 8, 16].filter((count) => count <= MOST_SHARES && count * slices <= Math.min(SUBGROUP, subgroups) && 2 * count <= seen)
  const plans = shares.flatMap((count) => [planned(THREADS, count, 2), planned(THREADS, count, 1)])
  const plan = plans.find(({ blocks }) => sources * blocks >= FILLED) ?? plans.at(-1)
  return plan && sources * plan.blocks >= FEWEST ? plan : undefined
}

/** How threads take many queries with few keys, of which each sees all; undefined where queries are few or subgroups small, and for halves, which were not timed. */
export function planWholeQuery(of: FewAttention, device: DeviceLimits): SplitQueryPlan | undefined {
  const lanes = Math.min(SUBGROUP, device.subgroups ?? 1)
  const slices = slicesOf(of.headDim)
  const vectors = Math.ceil(of.headDim / 4 / slices)
  const [all, seen] = [sharingKeys(of), keysSeen(of)]
  const fit = Math.floor(memoryForKeys(device) / (32 * vectors * slices))
  if (of.dtype !== 'f32' || slices > lanes || seen < 2 || seen > MOST_OF_WHOLE) return undefined
  const isShort = seen <= FEW_KEYS
  if (isShort && of.batch * of.heads * of.seqQ * Math.ceil(of.headDim / 4) * seen < LEAST_PRODUCTS) return undefined
  const keys = Math.min(fit, Math.ceil(seen / Math.ceil(seen / WHOLE.together)))
  const chunk = Math.min(Math.floor(fit / keys), Math.ceil(seen / keys)) * keys
  const plans = GROUPS.slice(isShort ? -1 : 0).map(({ threads, queries }): SplitQueryPlan => {
    const held = (threads / slices) * queries
    const { count: blocks, size } = evenly(all, held)
    return { threads, slices, shares: 1, apart: slices > 1 && 2 * slices <= lanes ? 2 : 1, queries, vectors, pitch: vectors, chunk, keys, rows: blocks === 1 ? size : held, blocks }
  }).filter(({ threads, queries, blocks }) => all >= LEAST_USED * blocks * (threads / slices) * queries)
  const groups = ({ blocks }: SplitQueryPlan) => of.batch * of.kvHeads * blocks
  return plans.find((plan) => groups(plan) >= FILLED) ?? plans.find((plan) => groups(plan) >= FEWEST_WHOLE)
}

/** Threads that share a head. */
function slicesOf(headDim: number): number {
  const vectors = Math.ceil(headDim / 4)
  let slices = 1
  while (slices * (vectors <= SHORT_HEAD ? VECTORS_OF_SHORT : WHOLE.vectors) < vectors) slices *= 2
  const empty = (count: number) => 1 - vectors / (Math.ceil(vectors / count) * count)
  const isEmptier = empty(slices) > MOST_EMPTY && empty(slices) > empty(slices / 2)
  return widthFor(headDim) === 4 && slices > 1 && isEmptier && 2 * vectors <= slices * WHOLE.more ? slices / 2 : slices
}

/**
 * Attention of some queries in one dispatch: neighbouring threads share the keys of a query, or of two, which lie in workgroup memory, some at a time
 * (Dao et al. 2022, FlashAttention). Each has the largest score and the sums of its own keys; they are joined by shuffles at the end. dims: keys, sources of keys.
 */
export function splitQuery(of: FewAttention, plan: SplitQueryPlan): Program {
  const sources = of.batch * of.kvHeads
  return { scratchBytes: [], steps: [step(textOf(of, plan), [{ input: 0 }, { input: 1 }, { input: 2 }, 'output'], [of.seqK, sources], sources * plan.blocks, [of.scale])] }
}

function textOf(of: FewAttention, { threads, slices, shares, apart, queries, vectors, pitch, chunk, keys, rows, blocks }: SplitQueryPlan): string {
  const { dtype, headDim, causal, seqQ } = of
  const width = widthFor(headDim)
  const type = storage(dtype, width)
  const [columns, every, several, sides] = [numbers(vectors), numbers(keys), numbers(queries), ['x', 'y', 'z', 'w']]
  const [all, seen] = [sharingKeys(of), keysSeen(of)]
  const ofRow = vectors * slices
  const isWhole = ofRow * 4 === headDim
  const each = (text: (q: number, c: number) => string, separator = '\n') => several.flatMap((q) => columns.map((c) => text(q, c))).join(separator)
  const strides = (from: number, to: number) => { const found: number[] = []; for (let s = from; s < to; s *= 2) found.push(s); return found }
  const overSlices = (value: string) => strides(1, slices).map((s) => `${value} += subgroupShuffleXor(${value}, ${apart * s}u);`).join(' ')
  const chunks = Math.ceil(seen / chunk)
  // Neighbouring threads have neighbouring queries.
  const between = threads / (slices * shares)
  const loads = Math.ceil((chunk * ofRow) / threads)
  const place = (u: number) => `i_${u} / ${ofRow}u`
  const bring = numbers(loads).map((u) => `    let at_${u} = min(start + ${place(u)}, ${of.seqK - 1}u); let k_in_${u} = load_k(base + at_${u}, i_${u} % ${ofRow}u); let v_in_${u} = load_v(base + at_${u}, i_${u} % ${ofRow}u);`).join('\n')
  const keep = numbers(loads).map((u) => `    ${(u + 1) * threads <= chunk * ofRow ? '' : `if (i_${u} < ${chunk * ofRow}u) `}{ keys[${place(u)}][i_${u} % ${ofRow}u / ${slices}u][i_${u} % ${slices}u] = k_in_${u}; values[${place(u)}][i_${u} % ${ofRow}u / ${slices}u][i_${u} % ${slices}u] = v_in_${u}; }`).join('\n')
  const checked = causal || seen % chunk !== 0
  const written = (q: number, c: number) => {
    const at = `${c * slices}u + slice`
    return width === 4
      ? `${isWhole ? '' : `if (${at} < ${headDim / 4}u) `}{ out[row_${q} * ${headDim / 4}u + ${at}] = ${type}(sum_${q}_${c} * inverse); }`
      : sides.map((side, i) => `if (4u * (${at}) + ${i}u < ${headDim}u) { out[row_${q} * ${headDim}u + 4u * (${at}) + ${i}u] = ${type}(sum_${q}_${c}.${side} * inverse); }`).join(' ')
  }
  return `${header([{ name: 'q', type }, { name: 'k', type }, { name: 'v', type }, { name: 'out', type, write: true }], dtype === 'f16', slices * shares > 1)}
// Nested: the checks of indices that a browser adds are needed once for each row.
var<workgroup> keys: array<array<array<vec4<f32>, ${slices}>, ${pitch}>, ${chunk}>;
var<workgroup> values: array<array<array<vec4<f32>, ${slices}>, ${pitch}>, ${chunk}>;
${['q', 'k', 'v'].map((name) => loader(name, headDim, isWhole)).join('')}${entry(`  let source = group / ${blocks}u;
  if (source >= dim(1u)) { return; }
  let first_row = group % ${blocks}u * ${rows}u;
  let slice = ${apart === 1 ? 'lane' : `lane / ${apart}u`} % ${slices}u;
  let share = ${shares === 1 ? '0u' : `lane / ${apart * slices}u % ${shares}u`};
  let own = first_row + ${apart === 1 ? `lane / ${slices * shares}u` : `lane / ${apart * slices * shares}u * ${apart}u + lane % ${apart}u`};
  let base = source * dim(0u);
${several.map((q) => `  let row_${q} = source * ${all}u + min(own + ${q * between}u, ${all - 1}u);
  let end_${q} = ${causal ? `min(${seen}u, row_${q} % ${seqQ}u + 1u)` : `${seen}u`};
  var top_${q} = -1e30; var total_${q} = 0.0;`).join('\n')}
${each((q, c) => `  let q_${q}_${c} = load_q(row_${q}, ${c * slices}u + slice) * (scalar(0u) * ${Math.LOG2E}); var sum_${q}_${c} = vec4<f32>(0.0);`)}
${numbers(loads).map((u) => `  let i_${u} = lane + ${u * threads}u;`).join('\n')}
  let seen = ${causal && of.heads === of.kvHeads ? `min(${seen}u, first_row + ${rows}u)` : `${seen}u`};
  for (var start = 0u; start < seen; start += ${chunk}u) {
${bring}
${chunks > 1 ? '    workgroupBarrier();\n' : ''}${keep}
    workgroupBarrier();
    let count = min(${chunk}u, seen - start);
    for (var j = 0u; j < count; j += ${keys * shares}u) {
${every.map((u) => `      let at_${u} = j + share + ${u * shares}u; ${several.map((q) => `var score_${q}_${u} = 0.0;`).join(' ')}`).join('\n')}
${columns.map((c) => `      { ${every.map((u) => `let k_${u} = keys[at_${u}][${c}][slice];`).join(' ')} ${several.map((q) => every.map((u) => `score_${q}_${u} += dot(q_${q}_${c}, k_${u});`).join(' ')).join(' ')} }`).join('\n')}
${slices > 1 ? several.map((q) => every.map((u) => `      ${overSlices(`score_${q}_${u}`)}`).join('\n')).join('\n') : ''}
${checked ? several.map((q) => every.map((u) => `      score_${q}_${u} = select(-1e30, score_${q}_${u}, start + at_${u} < end_${q});`).join(' ')).join('\n') : ''}
${several.map((q) => `      let next_${q} = ${every.reduce((text, u) => `max(${text}, score_${q}_${u})`, `top_${q}`)};
      let kept_${q} = exp2(top_${q} - next_${q}); top_${q} = next_${q};
${every.map((u) => `      let weight_${q}_${u} = exp2(score_${q}_${u} - next_${q});`).join(' ')}
      total_${q} = fma(total_${q}, kept_${q}, ${every.map((u) => `weight_${q}_${u}`).join(' + ')});`).join('\n')}
${columns.map((c) => `      { ${every.map((u) => `let v_${u} = values[at_${u}][${c}][slice];`).join(' ')} ${several.map((q) => `sum_${q}_${c} *= kept_${q}; ${every.map((u) => `sum_${q}_${c} = fma(vec4<f32>(weight_${q}_${u}), v_${u}, sum_${q}_${c});`).join(' ')}`).join(' ')} }`).join('\n')}
    }
  }
${several.map((q) => `  {
    var highest = top_${q};
${strides(slices, slices * shares).map((s) => `    highest = max(highest, subgroupShuffleXor(highest, ${apart * s}u));`).join('\n')}
    let factor = exp2(top_${q} - highest);
    total_${q} *= factor;
${strides(slices, slices * shares).map((s) => `    total_${q} += subgroupShuffleXor(total_${q}, ${apart * s}u);`).join('\n')}
    let inverse = 1.0 / total_${q};
${columns.map((c) => `    sum_${q}_${c} *= factor; ${strides(slices, slices * shares).map((s) => `sum_${q}_${c} += subgroupShuffleXor(sum_${q}_${c}, ${apart * s}u);`).join(' ')}`).join('\n')}
    if (own + ${q * between}u < min(${all}u, first_row + ${rows}u)) { ${columns.map((c) => `if (share == ${c % shares}u) { ${written(q, c)} }`).join(' ')} }
  }`).join('\n')}`, threads)}`
}
