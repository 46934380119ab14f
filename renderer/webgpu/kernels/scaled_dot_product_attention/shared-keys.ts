import { entry, header, step, storage, widthFor } from '../../wgsl/header'
import { exchange, powerOfTwoFrom, reduction, shuffled } from '../../wgsl/rows'
import type { KernelShape, Program } from '../types'
import { joinStep, keysSeen, type FewAttention } from './few'

/** Queries of a workgroup at most: each reads a key from registers. Fewer of long heads, whose queries lie in workgroup memory (floats). */
const MOST_ROWS = 8
const QUERIES = 1536
/** Scores in workgroup memory (floats) and of a query at most; and all of it, beside what threads exchange. */
const SCORES = 2048
const MOST_CHUNK = 512
const MEMORY = 3584
/** Vectors of a key that a thread loads together; as many threads share a key as leave each so many, up to SHARING. */
const TOGETHER = 4
const SHARING = 8
/** Threads of a workgroup, and of one whose keys are few. */
const THREADS_OF_MANY = 128
const THREADS_OF_FEW = 64
const FEW_KEYS = 64
/** Workgroups that fill a device, and keys that are worth a part and the pass that joins it. */
const FILLED = 264
const LEAST_KEYS = 128

const list = (count: number): number[] => Array.from({ length: count }, (_, i) => i)

export interface SharedKeysPlan {
  threads: number
  /** Queries of a workgroup, and workgroups for all that share keys. */
  rows: number
  blocks: number
  /** Threads that share a key in its scores. */
  sharing: number
  /** Keys whose scores are in workgroup memory at once: whole vectors. */
  chunk: number
  /** Parts of the keys, each of a workgroup, and keys of a part. */
  parts: number
  perPart: number
}

/** Queries of all heads that share keys. */
const sharingKeys = ({ heads, kvHeads, seqQ }: FewAttention): number => (heads / kvHeads) * seqQ

export function planSharedKeys(of: FewAttention, { subgroups }: Pick<KernelShape, 'subgroups'>): SharedKeysPlan {
  const vectors = Math.ceil(of.headDim / 4)
  const [all, seen] = [sharingKeys(of), keysSeen(of)]
  const blocks = Math.ceil(all / Math.max(1, Math.min(MOST_ROWS, Math.floor(QUERIES / (4 * vectors)))))
  const rows = Math.ceil(all / blocks)
  let sharing = 1
  while (2 * sharing <= Math.min(SHARING, subgroups ?? 1) && vectors >= 2 * sharing * TOGETHER) sharing *= 2
  const groups = of.batch * of.kvHeads * blocks
  const parts = groups >= FILLED ? 1 : Math.max(1, Math.min(Math.floor((2 * FILLED) / groups), Math.floor(seen / LEAST_KEYS)))
  const perPart = Math.ceil(seen / parts)
  const most = Math.min(MOST_CHUNK, Math.floor(Math.min(SCORES, MEMORY - 4 * rows * vectors) / rows / 4) * 4)
  const chunk = Math.ceil(perPart / Math.ceil(perPart / most) / 4) * 4
  return { threads: seen <= FEW_KEYS && vectors <= THREADS_OF_FEW ? THREADS_OF_FEW : THREADS_OF_MANY, rows, blocks, sharing, chunk, parts: Math.ceil(seen / perPart), perPart }
}

/**
 * Attention of several queries, of a head or of those that share its keys: a workgroup has some of them, and reads each key and value once for all. Scores of a
 * chunk of keys by threads that have a key or a part of it, then values by rows of threads side by side; chunks as in Dao et al. 2022 (FlashAttention).
 * Parts of the keys are joined by a second step.
 */
export function sharedKeys(of: FewAttention, device: Pick<KernelShape, 'subgroups'>): Program {
  const { dtype, batch, heads, kvHeads, seqQ, seqK, headDim } = of
  const plan = planSharedKeys(of, device)
  const { blocks, parts, perPart } = plan
  const groups = batch * kvHeads * blocks * parts
  const first = step(textOf(of, plan, device), [{ input: 0 }, { input: 1 }, { input: 2 }, parts > 1 ? { scratch: 0 } : 'output'], [seqQ, seqK, sharingKeys(of), blocks, parts, perPart, batch * kvHeads], groups, [of.scale])
  if (parts === 1) return { scratchBytes: [], steps: [first] }
  const queries = batch * heads * seqQ
  return { scratchBytes: [4 * queries * parts * (headDim + 2)], steps: [first, joinStep(dtype, headDim, queries, parts, device)] }
}

/** Four elements of a row of `headDim` from vector `at` on, 0 beyond its end. */
const loader = (name: string, headDim: number) => `fn load_${name}(row: u32, at: u32) -> vec4<f32> {
  ${widthFor(headDim) === 4
    ? `return vec4<f32>(${name}[row * ${headDim / 4}u + at]);`
    : `let first = row * ${headDim}u;\n  return vec4<f32>(${list(4).map((j) => `select(0.0, f32(${name}[first + min(4u * at + ${j}u, ${headDim - 1}u)]), 4u * at + ${j}u < ${headDim}u)`).join(', ')});`}
}
`

function textOf(of: FewAttention, { threads, rows, sharing, chunk, parts, perPart }: SharedKeysPlan, { subgroups }: Pick<KernelShape, 'subgroups'>): string {
  const { dtype, headDim, causal } = of
  const width = widthFor(headDim)
  const type = storage(dtype, width)
  const [vectors, quads, split, several] = [Math.ceil(headDim / 4), chunk / 4, parts > 1, perPart > chunk]
  const [own, high] = [list(rows), Math.floor(threads / vectors)]
  const each = (text: (r: number) => string, separator = '\n') => own.map(text).join(separator)
  const scores = rows * vectors
  const lanes = threads / powerOfTwoFrom(rows)
  // Sums of some queries at a time, of all rows of threads.
  const joined = Math.min(rows, Math.max(1, Math.floor((scores + rows * quads) / threads), 4))
  const memory = Math.max(scores + rows * quads, joined * threads)
  const products = (from: number): string => {
    const here = list(Math.min(TOGETHER, Math.ceil(vectors / sharing) - from)).map((e) => from + e)
    const whole = (e: number) => (e + 1) * sharing <= vectors
    return `${here.map((e) => `      let v_${e} = ${whole(e) ? '' : 'min('}share + ${e * sharing}u${whole(e) ? '' : `, ${vectors - 1}u)`}; let k_${e} = ${whole(e) ? '' : 'select(vec4<f32>(0.0), '}load_k(row, v_${e})${whole(e) ? '' : `, share + ${e * sharing}u < ${vectors}u)`};`).join('\n')}
${each((r) => `      score_${r} += ${here.map((e) => `dot(memory[${r * vectors}u + v_${e}], k_${e})`).join(' + ')};`)}`
  }
  const batches = Array.from({ length: Math.ceil(vectors / sharing / TOGETHER) }, (_, i) => products(i * TOGETHER)).join('\n')
  const seen = causal ? (of.heads === of.kvHeads ? `min(min(dim(0u), dim(1u)), first_row + ${rows}u)` : 'min(dim(0u), dim(1u))') : 'dim(1u)'
  const values = (declare: string) => list(4).map((i) => `      ${declare}value_${i} = load_v(base + start + min(4u * j + ${i}u, count - 1u), x);`).join('\n')
  const written = (at: string, value: string) => split ? list(4).map((i) => `${headDim % 4 === 0 ? '' : `if (4u * x + ${i}u < ${headDim}u) `}{ out[${at} + 4u * x + ${i}u] = ${value}[${i}]; }`).join(' ')
    : width === 4 ? `out[${at} + x] = ${type}(${value});` : list(4).map((i) => `if (4u * x + ${i}u < ${headDim}u) { out[${at} + 4u * x + ${i}u] = ${type}(${value}[${i}]); }`).join(' ')
  return `${header([{ name: 'q', type }, { name: 'k', type }, { name: 'v', type }, { name: 'out', type: split ? 'f32' : type, write: true }], dtype === 'f16', subgroups !== undefined)}${exchange(threads)}
var<workgroup> memory: array<vec4<f32>, ${memory}>;
var<workgroup> kept: array<f32, ${rows}>;
var<workgroup> ends: array<vec2<f32>, ${rows}>;
${reduction('max', lanes, (a, b) => `max(${a}, ${b})`, subgroups)}${reduction('sum', lanes, (a, b) => `${a} + ${b}`, subgroups)}${['q', 'k', 'v'].map((name) => loader(name, headDim)).join('')}${entry(`  let part = group % dim(4u);
  let first_row = group / dim(4u) % dim(3u) * ${rows}u;
  let source = group / (dim(4u) * dim(3u));
  if (source >= dim(6u)) { return; }
  let all = dim(2u);
  let base = source * dim(1u);
  for (var i = lane; i < ${scores}u; i += ${threads}u) { memory[i] = load_q(source * all + min(first_row + i / ${vectors}u, all - 1u), i % ${vectors}u) * scalar(0u); }
  let share = lane % ${sharing}u;
  let x = lane % ${vectors}u;
  let y = lane / ${vectors}u;
  // The query whose scores the thread weighs with others.
  let weighed = lane / ${lanes}u;
  let place = lane % ${lanes}u;
  var top = -1e30;
  var total = 0.0;
${each((r) => `  var sum_${r} = vec4<f32>(0.0);`)}
${causal ? each((r) => `  let end_${r} = (first_row + ${r}u) % dim(0u) + 1u;`) : ''}
  let seen = ${seen};
  let end = min(seen, (part + 1u) * dim(5u));
  workgroupBarrier();
  for (var start = part * dim(5u); start < end; start += ${chunk}u) {
    let count = min(end - start, ${chunk}u);
    let padded = (count + 3u) / 4u;
    // The first values are on their way while scores are found.
    var j = y;
${values('var ')}
    for (var first_key = 0u; first_key < 4u * padded; first_key += ${threads / sharing}u) {
      let key = first_key + lane / ${sharing}u;
      let row = base + start + min(key, count - 1u);
${each((r) => `      var score_${r} = 0.0;`)}
${batches}
${each((r) => shuffled(sharing, sharing, (stride) => `    score_${r} += subgroupShuffleXor(score_${r}, ${stride});`))}
      if (key < 4u * padded) {
${each((r) => `        ${sharing > 1 ? `if (share == ${r % sharing}u) ` : ''}{ memory[${scores + r * quads}u + key / 4u][key % 4u] = select(-1e30, score_${r}, key < count${causal ? ` && start + key < end_${r}` : ''}); }`)}
      }
    }
    workgroupBarrier();
    var highest = top;
    if (weighed < ${rows}u) { for (var i = place; i < padded; i += ${lanes}u) { let four = memory[${scores}u + weighed * ${quads}u + i]; highest = max(highest, max(max(four.x, four.y), max(four.z, four.w))); } }
    let next = reduce_max(highest, lane);
    var share_of = 0.0;
    if (weighed < ${rows}u) {
      for (var i = place; i < padded; i += ${lanes}u) {
        let four = exp(memory[${scores}u + weighed * ${quads}u + i] - next);
        memory[${scores}u + weighed * ${quads}u + i] = four;
        share_of += dot(four, vec4<f32>(1.0));
      }
      if (place == 0u) { kept[weighed] = exp(top - next); }
    }
    total = total * exp(top - next) + reduce_sum(share_of, lane);
    top = next;
    workgroupBarrier();
${several ? each((r) => `    sum_${r} *= kept[${r}];`) : ''}
    if (y < ${high}u) {
    loop {
      if (j >= padded) { break; }
${each((r) => `      { let four = memory[${scores + r * quads}u + j]; sum_${r} = fma(vec4<f32>(four.w), value_3, fma(vec4<f32>(four.z), value_2, fma(vec4<f32>(four.y), value_1, fma(vec4<f32>(four.x), value_0, sum_${r})))); }`)}
      j += ${high}u;
      if (j >= padded) { break; }
${values('')}
    }
    }
    workgroupBarrier();
  }
  if (weighed < ${rows}u && place == 0u) { ends[weighed] = vec2<f32>(top, total); }
${Array.from({ length: Math.ceil(rows / joined) }, (_, round) => {
    const here = own.slice(round * joined, (round + 1) * joined)
    const outputs = here.length * vectors
    return `${round > 0 ? '  workgroupBarrier();\n' : ''}${here.map((r, i) => `  memory[lane + ${i * threads}u] = sum_${r};`).join('\n')}
  workgroupBarrier();
  for (var i = lane; i < ${outputs}u; i += ${threads}u) {
    let x = i % ${vectors}u;
    let own = ${round * joined}u + i / ${vectors}u;
    let first = i / ${vectors}u * ${threads}u + x;
    var sum = memory[first];
${list(high - 1).map((h) => `    sum += memory[first + ${(h + 1) * vectors}u];`).join('\n')}
    if (first_row + own < all) {
      let query = source * all + first_row + own;
${split ? `      let to = (query * dim(4u) + part) * ${headDim + 2}u;
      if (x == 0u) { out[to] = ends[own].x; out[to + 1u] = ends[own].y; }
      ${written('to + 2u', 'sum')}` : `      let result = sum / ends[own].y;
      ${written(`query * ${width === 4 ? vectors : headDim}u`, 'result')}`}
    }
  }`
  }).join('\n')}`, threads)}`
}
