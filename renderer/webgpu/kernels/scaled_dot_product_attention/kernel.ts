import { CaseError } from '@core/backend'
import { entry, header, step, storage } from '../../wgsl/header'
import { dimOf, type Kernel } from '../types'
import { fewAttention, isFew } from './few'
import { isShort, shortAttention } from './short'
import { TILE, tiledText } from './tiled'

/** Queries and keys of a tile: a thread has one score of it, and every SIDE-th element of a query's result. */
const SIDE = 16
/** Elements of queries and keys that lie in workgroup memory at a time, for short heads and for others. */
const SHORT_DEPTH = 32
const DEPTH = 64
/** Elements of a query's result in a thread up to which the values of several keys are loaded together. */
const FEW_OWN = 8
const KEYS_AT_ONCE = 4
/** More would not stay in registers. */
const MAX_HEAD_DIM = 512

/** Softmax over the keys in one pass, tile after tile, rescaling what was added up when a larger score comes (Dao et al. 2022, FlashAttention). */
function text(dtype: 'f32' | 'f16', headDim: number, causal: boolean): string {
  const type = storage(dtype, 1)
  const own = Math.ceil(headDim / SIDE)
  const depth = headDim <= SHORT_DEPTH ? SHORT_DEPTH : DEPTH
  const keysAtOnce = own <= FEW_OWN ? KEYS_AT_ONCE : 1
  // All loads of a thread before the first store, so that they wait for memory once.
  const brought = Array.from({ length: depth / SIDE }, (_, e) => e)
  const bring = (e: number) => `let e_${e} = lane + ${e * SIDE * SIDE}u; let c_${e} = at + e_${e} % ${depth}u; let q_${e} = f32(q[q_base + min(first_query + e_${e} / ${depth}u, seq_q - 1u) * head_dim + min(c_${e}, head_dim - 1u)]); let k_${e} = f32(k[k_base + min(first_key + e_${e} / ${depth}u, seq_k - 1u) * head_dim + min(c_${e}, head_dim - 1u)]);`
  const keep = (e: number) => `{ let to = e_${e} / ${depth}u * ${depth + 1}u + e_${e} % ${depth}u; queries[to] = select(0.0, q_${e}, c_${e} < head_dim); keys[to] = select(0.0, k_${e}, c_${e} < head_dim); }`
  const group = Array.from({ length: keysAtOnce }, (_, u) => u)
  const each = (line: (d: number) => string) => Array.from({ length: own }, (_, d) => line(d)).join('\n')
  return `${header([{ name: 'q', type }, { name: 'k', type }, { name: 'v', type }, { name: 'out', type, write: true }], dtype === 'f16')}
const head_dim = ${headDim}u;
var<workgroup> queries: array<f32, ${SIDE * (depth + 1)}>;
var<workgroup> keys: array<f32, ${SIDE * (depth + 1)}>;
var<workgroup> weights: array<f32, ${SIDE * SIDE}>;
${entry(`  let seq_q = dim(0u);
  let seq_k = dim(1u);
  let tiles = dim(2u);
  let head = group / tiles;
  if (head >= dim(3u)) { return; }
  let first_query = group % tiles * ${SIDE}u;
  let y = lane / ${SIDE}u;
  let x = lane % ${SIDE}u;
  let query = first_query + y;
  let q_base = head * seq_q * head_dim;
  let k_base = (head / dim(4u) * dim(5u) + head % dim(4u) / (dim(4u) / dim(5u))) * seq_k * head_dim;
  var top = -1e30;
  var total = 0.0;
${each((d) => `  var sum_${d} = 0.0;`)}
  let seen = ${causal ? `min(seq_k, first_query + ${SIDE}u)` : 'seq_k'};
  for (var first_key = 0u; first_key < seen; first_key += ${SIDE}u) {
    var score = 0.0;
    for (var at = 0u; at < head_dim; at += ${depth}u) {
${[...brought.map(bring), ...brought.map(keep)].map((line) => `      ${line}`).join('\n')}
      workgroupBarrier();
      for (var d = 0u; d < ${depth}u; d++) { score = fma(queries[y * ${depth + 1}u + d], keys[x * ${depth + 1}u + d], score); }
      workgroupBarrier();
    }
    let key = first_key + x;
    let visible = key < seq_k${causal ? ' && key <= query' : ''};
    weights[lane] = select(-1e30, score * scalar(0u), visible);
    workgroupBarrier();
    var next = top;
    for (var j = 0u; j < ${SIDE}u; j++) { next = max(next, weights[y * ${SIDE}u + j]); }
    workgroupBarrier();
    weights[lane] = select(0.0, exp(score * scalar(0u) - next), visible);
    workgroupBarrier();
    let kept = exp(top - next);
    top = next;
    total *= kept;
${each((d) => `    sum_${d} *= kept;`)}
    // Keys beyond the last one have no weight.
    for (var j = 0u; j < min(${SIDE}u, seq_k - first_key); j += ${keysAtOnce}u) {
${group.map((u) => `      let row_${u} = k_base + min(first_key + j + ${u}u, seq_k - 1u) * head_dim;`).join('\n')}
${each((d) => group.map((u) => `      let v_${u}_${d} = f32(v[row_${u} + min(${d * SIDE}u + x, head_dim - 1u)]);`).join('\n'))}
${group.map((u) => `      { let weight = weights[y * ${SIDE}u + j + ${u}u]; total += weight; ${each((d) => `sum_${d} = fma(weight, v_${u}_${d}, sum_${d});`).replaceAll('\n', ' ')} }`).join('\n')}
    }
    workgroupBarrier();
  }
  if (query < seq_q) {
    let to = q_base + query * head_dim;
${each((d) => `    if (${d * SIDE}u + x < head_dim) { out[to + ${d * SIDE}u + x] = ${type}(sum_${d} / total); }`)}
  }`)}`
}

/** Queries of a head below which a tile of tiled.ts would stand nearly empty, and tiles of a head that all count where the last is not whole. */
const FEW_QUERIES = 32
const FEW_TILES = 8

const kernel: Kernel = {
  dtypes: ['f32', 'f16'],
  build: (shape) => {
    const [batch, heads, kvHeads, seqQ, seqK, headDim] = [dimOf(shape, 0), dimOf(shape, 1), dimOf(shape, 2), dimOf(shape, 3), dimOf(shape, 4), dimOf(shape, 5)]
    if (headDim > MAX_HEAD_DIM) throw new CaseError('unsupported', `The WGSL attention kernel takes heads of at most ${MAX_HEAD_DIM}; this case has ${headDim}.`)
    const dtype = shape.dtype === 'f16' ? 'f16' : 'f32'
    const [causal, scale] = [dimOf(shape, 6) === 1, 1 / Math.sqrt(headDim)]
    if (isShort(batch * heads * seqQ, seqK, headDim)) return shortAttention(dtype, batch * heads * seqQ, [seqQ, seqK, heads, kvHeads, headDim], causal, scale)
    const tile = seqQ >= FEW_QUERIES ? TILE : SIDE
    const tiles = Math.ceil(seqQ / tile)
    const few = { dtype, batch, heads, kvHeads, seqQ, seqK, headDim, causal, scale } as const
    if (isFew(few, batch * heads * tiles)) return fewAttention(few, shape)
    const partial = causal || (tiles <= FEW_TILES && (seqQ % TILE > 0 || seqK % TILE > 0))
    const wgsl = tile === TILE ? tiledText(dtype, headDim, causal, partial) : text(dtype, headDim, causal)
    const dims = [seqQ, seqK, tiles, batch * heads, heads, kvHeads]
    return { scratchBytes: [], steps: [step(wgsl, [{ input: 0 }, { input: 1 }, { input: 2 }, 'output'], dims, batch * heads * tiles, [scale])] }
  },
}
export default kernel
