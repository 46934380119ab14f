import { entry, header, numbers, step, storage, widthFor } from '../../wgsl/header'
import { exchange, powerOfTwoFrom, reduction } from '../../wgsl/rows'
import type { KernelShape, Program } from '../types'
import { joinStep, keysSeen, sharingKeys, type FewAttention } from './few'
import { loader } from './loader'

/** Queries of a workgroup at most: each reads a key from registers. Fewer of long heads, whose queries lie in workgroup memory (floats). */
const MOST_ROWS = 8
const QUERIES = 1536
/** Threads of a workgroup, and of one whose keys and heads are short; scores that it has in workgroup memory (floats), those of a query at most, and all of that memory beside what threads exchange. */
const WIDE = { threads: 128, scores: 2048 }
const NARROW = { threads: 64, scores: 1024 }
const FEW_KEYS = 256
const SHORT_VECTORS = 8
const FEWEST_KEYS = 64
const MOST_CHUNK = 512
const MEMORY = 3840
/** Queries whose sums are joined at once. */
const MOST_JOINED = 4
/** As many threads share a key as leave each so many vectors of it, up to SHARING. */
const LEAST_EACH = 4
const SHARING = 8
/** Keys of a thread, most first and no more than queries, for all of which it reads the queries once, scores that it has of them at most, and how many keys of its own that reading takes as long as. */
const KEYS = [4, 2, 1]
const MOST_SCORES = 32
const READING = 1.5
/** Vectors of keys that a thread loads together. */
const TOGETHER = 8
const TOGETHER_OF_ONE = 4
/** Workgroups that fill a device, those that leave most of it idle, and keys that are worth a part and the pass that joins it. */
const FILLED = 264
const FEWEST = 66
const LEAST_KEYS = 128

export interface SharedKeysPlan {
  threads: number
  /** Queries of a workgroup, and workgroups for all that share keys. */
  rows: number
  blocks: number
  /** Threads that share a key in its scores. */
  sharing: number
  /** Keys whose scores are in workgroup memory at once, whole vectors, and those of a thread for which it reads the queries once. */
  chunk: number
  keys: number
  /** Queries whose sums are joined at once. */
  joined: number
  /** Parts of the keys, each of a workgroup, and keys of a part. */
  parts: number
  perPart: number
}

export function planSharedKeys(of: FewAttention, { subgroups }: Pick<KernelShape, 'subgroups'>): SharedKeysPlan {
  const vectors = Math.ceil(of.headDim / 4)
  const [all, seen] = [sharingKeys(of), keysSeen(of)]
  const blocks = Math.ceil(all / Math.max(1, Math.min(MOST_ROWS, Math.floor(QUERIES / (4 * vectors)))))
  const rows = Math.ceil(all / blocks)
  let sharing = 1
  while (2 * sharing <= Math.min(SHARING, subgroups ?? 1) && vectors >= 2 * sharing * LEAST_EACH) sharing *= 2
  const groups = of.batch * of.kvHeads * blocks
  const parts = groups >= FILLED ? 1 : Math.max(1, Math.min(Math.floor((2 * FILLED) / groups), Math.floor(seen / LEAST_KEYS)))
  const perPart = Math.ceil(seen / parts)
  const { threads, scores } = seen <= (vectors <= SHORT_VECTORS ? FEW_KEYS : FEWEST_KEYS) && vectors <= NARROW.threads ? NARROW : WIDE
  const left = MEMORY - 4 * rows * vectors
  const most = Math.min(MOST_CHUNK, Math.floor(Math.min(scores, left - 4 * threads) / rows / 4) * 4)
  const chunk = Math.ceil(perPart / Math.ceil(perPart / most) / 4) * 4
  const time = (keys: number) => Math.ceil(chunk / (keys * (threads / sharing))) * (keys + READING)
  const keys = KEYS.filter((count) => count === 1 || (count <= rows && count * rows <= MOST_SCORES)).reduce((best, count) => (time(count) < time(best) ? count : best))
  const joined = Math.min(rows, MOST_JOINED, Math.floor((left - rows * chunk) / (4 * threads)))
  return { threads, rows, blocks, sharing, chunk, keys, joined, parts: Math.ceil(seen / perPart), perPart }
}

/** Whether workgroups that share keys leave little of a device idle, so that they are faster than one for each query. */
export function fillsShared(of: FewAttention): boolean {
  const { blocks, parts } = planSharedKeys(of, {})
  return sharingKeys(of) > 1 && of.batch * of.kvHeads * blocks * parts >= FEWEST
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

function textOf(of: FewAttention, { threads, rows, sharing, chunk, keys, joined, parts, perPart }: SharedKeysPlan, { subgroups }: Pick<KernelShape, 'subgroups'>): string {
  const { dtype, headDim, causal } = of
  const width = widthFor(headDim)
  const type = storage(dtype, width)
  const [vectors, quads, split, several] = [Math.ceil(headDim / 4), chunk / 4, parts > 1, perPart > chunk]
  const [own, every, high] = [numbers(rows), numbers(keys), Math.floor(threads / vectors)]
  const each = (text: (r: number) => string, separator = '\n') => own.map(text).join(separator)
  const lanes = threads / powerOfTwoFrom(rows)
  const beside = threads / sharing
  // Vectors of the thread's keys, some at a time, with all queries.
  const held = Math.ceil(vectors / sharing)
  const together = keys === 1 ? TOGETHER_OF_ONE : TOGETHER / keys
  const products = Array.from({ length: Math.ceil(held / together) }, (_, i) => {
    const here = numbers(Math.min(together, held - i * together)).map((e) => e + i * together)
    const isWhole = (e: number) => (e + 1) * sharing <= vectors
    const loads = here.map((e) => {
      const at = isWhole(e) ? `share + ${e * sharing}u` : `min(share + ${e * sharing}u, ${vectors - 1}u)`
      const key = (u: number) => (isWhole(e) ? `load_k(row_${u}, at_${e})` : `select(vec4<f32>(0.0), load_k(row_${u}, at_${e}), share + ${e * sharing}u < ${vectors}u)`)
      return `        let at_${e} = ${at}; ${every.map((u) => `let k_${u}_${e} = ${key(u)};`).join(' ')}`
    }).join('\n')
    return `      {\n${loads}\n${each((r) => `        { ${here.map((e) => `let q_${e} = queries[${r}][at_${e}];`).join(' ')} ${every.map((u) => `score_${u}_${r} += ${here.map((e) => `dot(q_${e}, k_${u}_${e})`).join(' + ')};`).join(' ')} }`)}\n      }`
  }).join('\n')
  // Threads that share a key have a part of each query's score: of two, each adds up one half of the queries for both, until each has some whole.
  const shared = sharedScores(rows, sharing)
  const scored = (u: number) => {
    const { lines, values } = shared.added(u)
    return `${lines}
      if (key_${u} < 4u * padded) {
${values.map((value, i) => `        ${shared.isWhole ? '' : `if (own_row + ${i}u < ${rows}u) `}{ scores[${sharing === 1 ? i : `own_row + ${i}u`}][key_${u} / 4u][key_${u} % 4u] = select(-1e30, ${value}, key_${u} < count${causal ? ` && start + key_${u} < end_${i}` : ''}); }`).join('\n')}
      }`
  }
  const seen = causal ? (of.heads === of.kvHeads ? `min(min(dim(0u), dim(1u)), first_row + ${rows}u)` : 'min(dim(0u), dim(1u))') : 'dim(1u)'
  const values = (declare: string) => numbers(4).map((i) => `      ${declare}value_${i} = load_v(base + start + min(4u * j + ${i}u, count - 1u), x);`).join('\n')
  const written = (at: string, value: string) => split ? numbers(4).map((i) => `${headDim % 4 === 0 ? '' : `if (4u * x + ${i}u < ${headDim}u) `}{ out[${at} + 4u * x + ${i}u] = ${value}[${i}]; }`).join(' ')
    : width === 4 ? `out[${at} + x] = ${type}(${value});` : numbers(4).map((i) => `if (4u * x + ${i}u < ${headDim}u) { out[${at} + 4u * x + ${i}u] = ${type}(${value}[${i}]); }`).join(' ')
  return `${header([{ name: 'q', type }, { name: 'k', type }, { name: 'v', type }, { name: 'out', type: split ? 'f32' : type, write: true }], dtype === 'f16', subgroups !== undefined)}${exchange(threads)}
// Nested: the checks of indices that a browser adds are needed once for all queries.
var<workgroup> queries: array<array<vec4<f32>, ${vectors}>, ${rows}>;
var<workgroup> scores: array<array<vec4<f32>, ${quads}>, ${rows}>;
var<workgroup> sums: array<array<vec4<f32>, ${threads}>, ${joined}>;
var<workgroup> kept: array<f32, ${rows}>;
var<workgroup> ends: array<vec2<f32>, ${rows}>;
${reduction('max', lanes, (a, b) => `max(${a}, ${b})`, subgroups)}${reduction('sum', lanes, (a, b) => `${a} + ${b}`, subgroups)}${['q', 'k', 'v'].map((name) => loader(name, headDim)).join('')}${entry(`  let part = group % dim(4u);
  let first_row = group / dim(4u) % dim(3u) * ${rows}u;
  let source = group / (dim(4u) * dim(3u));
  if (source >= dim(6u)) { return; }
  let all = dim(2u);
  let base = source * dim(1u);
  for (var i = lane; i < ${rows * vectors}u; i += ${threads}u) { queries[i / ${vectors}u][i % ${vectors}u] = load_q(source * all + min(first_row + i / ${vectors}u, all - 1u), i % ${vectors}u) * scalar(0u); }
  let share = lane % ${sharing}u;
  let x = lane % ${vectors}u;
  let y = lane / ${vectors}u;
  // The query whose scores the thread weighs with others.
  let weighed = lane / ${lanes}u;
  let place = lane % ${lanes}u;
  var top = -1e30;
  var total = 0.0;
${each((r) => `  var sum_${r} = vec4<f32>(0.0);`)}
${shared.declared}
${causal ? numbers(shared.count).map((i) => `  let end_${i} = (first_row + ${sharing === 1 ? '' : 'own_row + '}${i}u) % dim(0u) + 1u;`).join('\n') : ''}
  let seen = ${seen};
  let end = min(seen, (part + 1u) * dim(5u));
  workgroupBarrier();
  for (var start = part * dim(5u); start < end; start += ${chunk}u) {
    let count = min(end - start, ${chunk}u);
    let padded = (count + 3u) / 4u;
    // The first values are on their way while scores are found.
    var j = y;
${values('var ')}
    for (var first_key = 0u; first_key < 4u * padded; first_key += ${keys * beside}u) {
${every.map((u) => `      let key_${u} = first_key + lane / ${sharing}u + ${u * beside}u; let row_${u} = base + start + min(key_${u}, count - 1u);`).join('\n')}
${every.map((u) => each((r) => `      var score_${u}_${r} = 0.0;`)).join('\n')}
${products}
${every.map(scored).join('\n')}
    }
    workgroupBarrier();
    var highest = top;
    if (weighed < ${rows}u) { for (var i = place; i < padded; i += ${lanes}u) { let four = scores[weighed][i]; highest = max(highest, max(max(four.x, four.y), max(four.z, four.w))); } }
    let next = reduce_max(highest, lane);
    var share_of = 0.0;
    if (weighed < ${rows}u) {
      for (var i = place; i < padded; i += ${lanes}u) {
        let four = exp(scores[weighed][i] - next);
        scores[weighed][i] = four;
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
${each((r) => `      { let four = scores[${r}][j]; sum_${r} = fma(vec4<f32>(four.w), value_3, fma(vec4<f32>(four.z), value_2, fma(vec4<f32>(four.y), value_1, fma(vec4<f32>(four.x), value_0, sum_${r})))); }`)}
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
    return `${round > 0 ? '  workgroupBarrier();\n' : ''}${here.map((r, i) => `  sums[${i}][lane] = sum_${r};`).join('\n')}
  workgroupBarrier();
  for (var i = lane; i < ${outputs}u; i += ${threads}u) {
    let x = i % ${vectors}u;
    let here = i / ${vectors}u;
    let own = ${round * joined}u + here;
    var sum = sums[here][x];
${numbers(high - 1).map((h) => `    sum += sums[here][x + ${(h + 1) * vectors}u];`).join('\n')}
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

/** How `sharing` threads beside each other, each with a part of the scores `score_<key>_<row>` of all rows, add them up: a thread ends with `count` whole ones from `own_row` on. */
function sharedScores(rows: number, sharing: number): { declared: string; count: number; isWhole: boolean; added(u: number): { lines: string; values: string[] } } {
  const all = Math.ceil(rows / sharing) * sharing
  const strides: number[] = []
  for (let stride = 1; stride < sharing; stride *= 2) strides.push(stride)
  const isUpper = strides.map((stride) => `  let is_upper_${stride} = (share & ${stride}u) != 0u;`)
  return {
    declared: sharing === 1 ? '' : `${isUpper.join('\n')}\n  let own_row = ${strides.map((stride) => `select(0u, ${all / (2 * stride)}u, is_upper_${stride})`).join(' + ')};`,
    count: all / sharing,
    isWhole: all === rows,
    added: (u) => {
      let values = numbers(all).map((r) => (r < rows ? `score_${u}_${r}` : '0.0'))
      const lines: string[] = []
      for (const stride of strides) {
        const [lower, upper] = [values.slice(0, values.length / 2), values.slice(values.length / 2)]
        lines.push(...lower.map((low, i) => `      let sum_of_${stride}_${u}_${i} = select(${low}, ${upper[i]}, is_upper_${stride}) + subgroupShuffleXor(select(${upper[i]}, ${low}, is_upper_${stride}), ${stride}u);`))
        values = lower.map((_, i) => `sum_of_${stride}_${u}_${i}`)
      }
      return { lines: lines.join('\n'), values }
    },
  }
}
