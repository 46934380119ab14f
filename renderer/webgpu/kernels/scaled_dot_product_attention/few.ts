import { entry, header, numbers, step, storage, THREADS, widthFor, WORKGROUP_BYTES, working } from '../../wgsl/header'
import { EXCHANGE, powerOfTwoFrom, reduction } from '../../wgsl/rows'
import type { DeviceLimits, KernelShape, Program, Step } from '../types'

/** Queries of all heads up to which each may read the keys by itself. */
const MOST_QUERIES = 2048
/** Elements of keys that all queries read together up to which that takes no longer than tiles, whose steps wait for each other, and of more keys than queries, of which tiles are more parts. */
const MOST_READ = 2 ** 23
const MOST_OF_MANY_KEYS = 2 ** 25
const KEYS_EACH = 4
/** Workgroups that leave most of a device idle. */
const FEW_GROUPS = 66
/** Keys whose scores a workgroup has at a time: one for each thread, or fewer where workgroups would leave most of a device idle. */
const CHUNKS = [THREADS, THREADS / 2, THREADS / 4]
/** Threads that share a key's score, where its row has as many vectors. */
const SHARING = 4
/** Vectors of a key that a thread reads together. */
const VECTORS = 8
/** Keys of a thread that are on their way together, where it has more than these. */
const KEYS_OF_THREAD = 2
/** Keys, or parts, whose values a thread reads together. */
const KEYS = [0, 1, 2, 3]
/** Workgroups that fill a device, and elements of keys up to which one workgroup is faster than several and their join. */
const FILLED = 1024
const ALONE = 2 ** 15
/** Bytes of keys and values in workgroup memory that are enough. */
const ENOUGH_FOR_KEYS = 32_768

export interface FewAttention {
  dtype: 'f32' | 'f16'
  batch: number
  heads: number
  kvHeads: number
  seqQ: number
  seqK: number
  headDim: number
  causal: boolean
  scale: number
}

/** Whether workgroups should take the keys of one query rather than tiles of queries. */
export function isFew({ batch, heads, seqQ, seqK, headDim }: FewAttention): boolean {
  const queries = batch * heads * seqQ
  return queries <= MOST_QUERIES && queries * seqK * headDim <= (seqK >= KEYS_EACH * seqQ ? MOST_OF_MANY_KEYS : MOST_READ)
}

/** Keys that some query sees. */
export const keysSeen = ({ seqQ, seqK, causal }: Pick<FewAttention, 'seqQ' | 'seqK' | 'causal'>): number => (causal ? Math.min(seqK, seqQ) : seqK)

/** Queries of all heads that share keys. */
export const sharingKeys = ({ heads, kvHeads, seqQ }: Pick<FewAttention, 'heads' | 'kvHeads' | 'seqQ'>): number => (heads / kvHeads) * seqQ

/** Bytes of workgroup memory that keys and values may have: what every adapter has, up to what is enough. */
export const memoryForKeys = ({ workgroupBytes = WORKGROUP_BYTES }: DeviceLimits, beside = 0): number => Math.min(ENOUGH_FOR_KEYS, workgroupBytes - beside)

/** Parts of the keys of each query, in whole chunks. */
export function keyParts(of: FewAttention): { parts: number; perPart: number; chunk: number } {
  const { batch, heads, seqQ, headDim } = of
  const seen = keysSeen(of)
  const queries = batch * heads * seqQ
  const alone = seen * headDim <= ALONE
  const chunk = alone ? THREADS : (CHUNKS.find((size) => queries * Math.ceil(seen / size) >= FEW_GROUPS) ?? CHUNKS.at(-1)!)
  const chunks = Math.ceil(seen / chunk)
  const wanted = alone ? 1 : Math.max(1, Math.min(chunks, Math.floor(FILLED / queries)))
  const perPart = Math.ceil(chunks / wanted) * chunk
  return { parts: Math.ceil(seen / perPart), perPart, chunk }
}

/**
 * Attention of few queries: a workgroup has a part of one query's keys, a chunk at a time: their scores by four threads each, then the values by
 * rows of threads side by side (Dao et al. 2023, Flash-Decoding). A second step joins the parts in their order.
 */
export function fewAttention(of: FewAttention, device: Pick<KernelShape, 'subgroups'>): Program {
  const { dtype, batch, heads, kvHeads, seqQ, seqK, headDim } = of
  const { parts, perPart, chunk } = keyParts(of)
  const queries = batch * heads * seqQ
  const first = step(partText(of, device, chunk, parts > 1), [{ input: 0 }, { input: 1 }, { input: 2 }, parts > 1 ? { scratch: 0 } : 'output'], [seqQ, seqK, parts, perPart, queries, heads, kvHeads], queries * parts, [of.scale])
  if (parts === 1) return { scratchBytes: [], steps: [first] }
  return { scratchBytes: [4 * queries * parts * (headDim + 2)], steps: [first, joinStep(dtype, headDim, queries, parts, device)] }
}

/** Threads for `vectors` beside each other, and how many rows of them a workgroup has. */
function rowsOf(vectors: number): { wide: number; high: number; columns: readonly number[] } {
  const wide = Math.min(THREADS, powerOfTwoFrom(vectors))
  return { wide, high: THREADS / wide, columns: Array.from({ length: Math.ceil(vectors / wide) }, (_, c) => c * wide) }
}

/** WGSL that adds up `sum_<c>` over the rows of threads in `rows`; the first row has the result. */
function joined({ wide, high, columns }: ReturnType<typeof rowsOf>): string {
  if (high === 1) return ''
  const steps: string[] = []
  for (let left = high; left > 1; ) {
    const by = left % 4 === 0 ? 4 : 2
    left /= by
    const others = Array.from({ length: by }, (_, i) => (i === 0 ? 'rows[lane]' : `rows[lane + ${i * left * wide}u]`))
    steps.push(`  if (lane < ${left * wide}u) { rows[lane] = ${by === 4 ? `(${others[0]} + ${others[1]}) + (${others[2]} + ${others[3]})` : others.join(' + ')}; }\n  workgroupBarrier();`)
  }
  return columns.map((c) => `  rows[lane] = sum_${c};\n  workgroupBarrier();\n${steps.join('\n')}\n  sum_${c} = rows[lane];\n  workgroupBarrier();`).join('\n')
}

function partText(of: FewAttention, { subgroups }: Pick<KernelShape, 'subgroups'>, chunk: number, split: boolean): string {
  const { dtype, headDim, causal } = of
  const width = widthFor(headDim)
  const [type, vector] = [storage(dtype, width), working(width)]
  const vectors = headDim / width
  // Of few keys the query is not shared first: it comes together with them.
  const seen = keysSeen(of)
  const direct = seen <= chunk
  const lanes = Math.min(chunk, powerOfTwoFrom(seen))
  const asked = (d: string) => (direct ? `(${vector}(q[query * ${vectors}u + ${d}]) * scalar(0u))` : `asked[${d}]`)
  const sharing = Math.min(SHARING, powerOfTwoFrom(vectors))
  // Keys of a thread, and vectors of each, that are on their way together.
  const loaded = numbers(Math.min(VECTORS, Math.ceil(vectors / sharing)))
  const isWhole = vectors % (sharing * loaded.length) === 0
  const every = numbers(Math.min(seen, chunk) > (KEYS_OF_THREAD * THREADS) / sharing ? KEYS_OF_THREAD : 1)
  const rows = rowsOf(vectors)
  const { wide, high, columns } = rows
  const dot = (a: string, b: string) => (width === 4 ? `dot(${a}, ${b})` : `${a} * ${b}`)
  const each = (text: (c: number) => string) => columns.map(text).join('\n')
  const place = (c: number) => `lane % ${wide}u + ${c}u`
  const has = (c: number) => (wide * columns.length === vectors ? 'true' : `${place(c)} < ${vectors}u`)
  const sides = ['x', 'y', 'z', 'w'].slice(0, width)
  const values = (declare: string) => each((c) => KEYS.map((u) => `    ${declare}v_${c}_${u} = ${vector}(v[(base + start + min(j + ${u * high}u, count - 1u)) * ${vectors}u + min(${place(c)}, ${vectors - 1}u)]);`).join('\n'))
  const written = split
    ? `let to = group * ${headDim + 2}u;
    if (lane == 0u) { out[to] = top; out[to + 1u] = total; }
${each((c) => `    if (${has(c)}) { ${width === 4 ? sides.map((l, i) => `out[to + 2u + 4u * (${place(c)}) + ${i}u] = sum_${c}.${l};`).join(' ') : `out[to + 2u + ${place(c)}] = sum_${c};`} }`)}`
    : each((c) => `    if (${has(c)}) { out[query * ${vectors}u + ${place(c)}] = ${type}(sum_${c} / total); }`)
  const target = split ? 'f32' : type
  return `${header([{ name: 'q', type }, { name: 'k', type }, { name: 'v', type }, { name: 'out', type: target, write: true }], dtype === 'f16', subgroups !== undefined)}${EXCHANGE}
${direct ? '' : `var<workgroup> asked: array<${vector}, ${vectors}>;\n`}var<workgroup> shares: array<f32, ${chunk * sharing}>;
var<workgroup> weights: array<f32, ${chunk}>;
${high > 1 ? `var<workgroup> rows: array<${vector}, ${THREADS}>;\n` : ''}${reduction('max', lanes, (a, b) => `max(${a}, ${b})`, subgroups)}${reduction('sum', lanes, (a, b) => `${a} + ${b}`, subgroups)}
${entry(`  let query = group / dim(2u);
  let part = group % dim(2u);
  if (query >= dim(4u)) { return; }
  let head = query / dim(0u);
  let heads = dim(5u);
  let base = (head / heads * dim(6u) + head % heads / (heads / dim(6u))) * dim(1u);
  let end = min(${causal ? 'min(dim(1u), query % dim(0u) + 1u)' : 'dim(1u)'}, (part + 1u) * dim(3u));
${direct ? '' : `  for (var d = lane; d < ${vectors}u; d += ${THREADS}u) { asked[d] = ${vector}(q[query * ${vectors}u + d]) * scalar(0u); }
  workgroupBarrier();
`}  var top = -1e30;
  var total = 0.0;
${each((c) => `  var sum_${c} = ${vector}(0.0);`)}
  for (var start = part * dim(3u); start < end; start += ${chunk}u) {
    let count = min(end - start, ${chunk}u);
    // The first values are on their way while scores are found.
    var j = lane / ${wide}u;
${values('var ')}
    for (var key = lane / ${sharing}u; key < count; key += ${(every.length * THREADS) / sharing}u) {
${every.map((e) => `      let row_${e} = (base + start + ${e === 0 ? 'key' : `min(key + ${(e * THREADS) / sharing}u, count - 1u)`}) * ${vectors}u; var share_${e} = 0.0;`).join('\n')}
      for (var d = lane % ${sharing}u; d < ${vectors}u; d += ${sharing * loaded.length}u) {
${loaded.map((u) => `        let d_${u} = ${u === 0 ? 'd' : `min(d + ${u * sharing}u, ${vectors - 1}u)`}; let asked_${u} = ${u === 0 || isWhole ? asked(`d_${u}`) : `select(${vector}(0.0), ${asked(`d_${u}`)}, d + ${u * sharing}u < ${vectors}u)`}; ${every.map((e) => `let k_${u}_${e} = ${vector}(k[row_${e} + d_${u}]);`).join(' ')}`).join('\n')}
${loaded.map((u) => `        ${every.map((e) => `share_${e} += ${dot(`asked_${u}`, `k_${u}_${e}`)};`).join(' ')}`).join('\n')}
      }
${every.map((e) => `      ${e === 0 ? '' : `if (key + ${(e * THREADS) / sharing}u < count) `}{ shares[(key + ${(e * THREADS) / sharing}u) * ${sharing}u + lane % ${sharing}u] = share_${e}; }`).join('\n')}
    }
    workgroupBarrier();
    var score = -1e30;
    // The threads that share a reduction have all keys, the same in each of several.
    let own = lane % ${lanes}u;
    if (own < count) { score = ${Array.from({ length: sharing }, (_, i) => `shares[own * ${sharing}u + ${i}u]`).join(' + ')}; }
    let next = max(top, reduce_max(score, lane));
    let weight = select(0.0, exp(score - next), own < count);
    if (lane < ${lanes}u) { weights[lane] = weight; }
    let kept = exp(top - next);
    top = next;
    total = total * kept + reduce_sum(weight, lane);
${each((c) => `    sum_${c} *= kept;`)}
${lanes < 2 || subgroups !== undefined ? '    workgroupBarrier();\n' : ''}    loop {
${KEYS.map((u) => `      let w_${u} = select(0.0, weights[min(j + ${u * high}u, count - 1u)], j + ${u * high}u < count);`).join('\n')}
${each((c) => KEYS.map((u) => `      sum_${c} += w_${u} * v_${c}_${u};`).join(' '))}
      j += ${high * KEYS.length}u;
      if (j >= count) { break; }
${values('')}
    }
    workgroupBarrier();
  }
${joined(rows)}
  if (lane < ${wide}u) {
    ${written}
  }`)}`
}

/** Joins the parts of each query: their largest scores, sums of weights and weighted values. */
export function joinStep(dtype: 'f32' | 'f16', headDim: number, queries: number, parts: number, { subgroups }: Pick<KernelShape, 'subgroups'>): Step {
  const type = storage(dtype, 1)
  const rows = rowsOf(headDim)
  const { wide, high, columns } = rows
  const each = (text: (c: number) => string) => columns.map(text).join('\n')
  const has = (c: number) => `lane % ${wide}u + ${c}u < ${headDim}u`
  const wgsl = `${header([{ name: 'parts', type: 'f32' }, { name: 'out', type, write: true }], dtype === 'f16', subgroups !== undefined)}${EXCHANGE}
${high > 1 ? `var<workgroup> rows: array<f32, ${THREADS}>;\n` : ''}${reduction('max', THREADS, (a, b) => `max(${a}, ${b})`, subgroups)}${reduction('sum', THREADS, (a, b) => `${a} + ${b}`, subgroups)}
${entry(`  let count = dim(0u);
  if (group >= dim(1u)) { return; }
  let base = group * count;
  var highest = -1e30;
  for (var p = lane; p < count; p += ${THREADS}u) { highest = max(highest, parts[(base + p) * ${headDim + 2}u]); }
  let top = reduce_max(highest, lane);
  var weights = 0.0;
  for (var p = lane; p < count; p += ${THREADS}u) { let at = (base + p) * ${headDim + 2}u; weights += exp(parts[at] - top) * parts[at + 1u]; }
  let total = reduce_sum(weights, lane);
${each((c) => `  var sum_${c} = 0.0;`)}
  for (var p = lane / ${wide}u; p < count; p += ${KEYS.length * high}u) {
${KEYS.map((u) => `    let at_${u} = (base + min(p + ${u * high}u, count - 1u)) * ${headDim + 2}u; let factor_${u} = select(0.0, exp(parts[at_${u}] - top), p + ${u * high}u < count);`).join('\n')}
${each((c) => `    let d_${c} = 2u + min(lane % ${wide}u + ${c}u, ${headDim - 1}u); sum_${c} += ${KEYS.map((u) => `factor_${u} * parts[at_${u} + d_${c}]`).join(' + ')};`)}
  }
${joined(rows)}
${each((c) => `  if (lane < ${wide}u && ${has(c)}) { out[group * ${headDim}u + lane + ${c}u] = ${type}(sum_${c} / total); }`)}`)}`
  return step(wgsl, [{ scratch: 0 }, 'output'], [parts, queries], queries, [])
}
