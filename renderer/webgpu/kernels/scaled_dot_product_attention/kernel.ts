import { CaseError } from '@core/backend'
import { entry, header, step, storage } from '../../wgsl/header'
import { dimOf, type Kernel } from '../types'
import { TILE, tiledText } from './tiled'

/** Queries and keys of a tile: a thread has one score of it, and every SIDE-th element of a query's result. */
const SIDE = 16
/** Elements of queries and keys that lie in workgroup memory at a time. */
const DEPTH = 32
/** More would not stay in registers. */
const MAX_HEAD_DIM = 512

/** Softmax over the keys in one pass, tile after tile, rescaling what was added up when a larger score comes (Dao et al. 2022, FlashAttention). */
function text(dtype: 'f32' | 'f16', headDim: number, causal: boolean): string {
  const type = storage(dtype, 1)
  const own = Math.ceil(headDim / SIDE)
  const each = (line: (d: number) => string) => Array.from({ length: own }, (_, d) => line(d)).join('\n')
  return `${header([{ name: 'q', type }, { name: 'k', type }, { name: 'v', type }, { name: 'out', type, write: true }], dtype === 'f16')}
const head_dim = ${headDim}u;
var<workgroup> queries: array<f32, ${SIDE * (DEPTH + 1)}>;
var<workgroup> keys: array<f32, ${SIDE * (DEPTH + 1)}>;
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
    for (var at = 0u; at < head_dim; at += ${DEPTH}u) {
      for (var e = lane; e < ${SIDE * DEPTH}u; e += ${SIDE * SIDE}u) {
        let r = e / ${DEPTH}u;
        let c = at + e % ${DEPTH}u;
        queries[r * ${DEPTH + 1}u + e % ${DEPTH}u] = select(0.0, f32(q[q_base + min(first_query + r, seq_q - 1u) * head_dim + min(c, head_dim - 1u)]), c < head_dim);
        keys[r * ${DEPTH + 1}u + e % ${DEPTH}u] = select(0.0, f32(k[k_base + min(first_key + r, seq_k - 1u) * head_dim + min(c, head_dim - 1u)]), c < head_dim);
      }
      workgroupBarrier();
      for (var d = 0u; d < ${DEPTH}u; d++) { score = fma(queries[y * ${DEPTH + 1}u + d], keys[x * ${DEPTH + 1}u + d], score); }
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
    for (var j = 0u; j < min(${SIDE}u, seq_k - first_key); j++) {
      let weight = weights[y * ${SIDE}u + j];
      total += weight;
      let row = k_base + (first_key + j) * head_dim;
${each((d) => `      sum_${d} = fma(weight, f32(v[row + min(${d * SIDE}u + x, head_dim - 1u)]), sum_${d});`)}
    }
    workgroupBarrier();
  }
  if (query < seq_q) {
    let to = q_base + query * head_dim;
${each((d) => `    if (${d * SIDE}u + x < head_dim) { out[to + ${d * SIDE}u + x] = ${type}(sum_${d} / total); }`)}
  }`)}`
}

/** Queries of a head below which a tile of tiled.ts would stand nearly empty. */
const FEW_QUERIES = 32

const kernel: Kernel = {
  dtypes: ['f32', 'f16'],
  build: (shape) => {
    const [batch, heads, kvHeads, seqQ, seqK, headDim] = [dimOf(shape, 0), dimOf(shape, 1), dimOf(shape, 2), dimOf(shape, 3), dimOf(shape, 4), dimOf(shape, 5)]
    if (headDim > MAX_HEAD_DIM) throw new CaseError('unsupported', `The WGSL attention kernel takes heads of at most ${MAX_HEAD_DIM}; this case has ${headDim}.`)
    const tile = seqQ >= FEW_QUERIES ? TILE : SIDE
    const tiles = Math.ceil(seqQ / tile)
    const wgsl = (tile === TILE ? tiledText : text)(shape.dtype === 'f16' ? 'f16' : 'f32', headDim, dimOf(shape, 6) === 1)
    const dims = [seqQ, seqK, tiles, batch * heads, heads, kvHeads]
    return { scratchBytes: [], steps: [step(wgsl, [{ input: 0 }, { input: 1 }, { input: 2 }, 'output'], dims, batch * heads * tiles, [1 / Math.sqrt(headDim)])] }
  },
}
export default kernel
