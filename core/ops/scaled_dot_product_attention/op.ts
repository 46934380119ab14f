import { defineOp, divisorUpTo } from '../define'
import { attention } from '../forms'
import { normalized } from '../tolerance'
import { asProduct, attendedRows, QUERIES, type AttentionParams } from './reference'

/** Query and key pairs of one head that are computed: with `causal`, those of the triangle, of which a square holds half. */
const pairs = ({ seqQ, seqK, causal }: AttentionParams): number => (!causal ? seqQ * seqK : seqQ <= seqK ? (seqQ * seqQ) / 2 : seqQ * seqK - (seqK * seqK) / 2)

/** Keys that some query sees. */
const keysSeen = ({ seqQ, seqK, causal }: AttentionParams): number => (causal ? Math.min(seqQ, seqK) : seqK)

/**
 * out = softmax(q kᵀ / sqrt(headDim)) v for each batch and head, the softmax over keys (Vaswani et al. 2017).
 * q [batch, heads, seqQ, headDim], k and v [batch, kvHeads, seqK, headDim], out as q. Head h reads the keys and values of head
 * h / (heads / kvHeads), rounded down. causal: query i sees keys 0 .. i, counted from the first key whatever the two lengths are.
 * PyTorch: F.scaled_dot_product_attention(q, k, v, is_causal=causal, enable_gqa=heads != kvHeads).
 * dims: [batch, heads, kvHeads, seqQ, seqK, headDim, causal as 0 or 1].
 * Operations: 4 * batch * heads * seqQ * seqK * headDim, half of that with causal (the part below the diagonal where the lengths differ);
 * the softmax is not counted.
 */
export default defineOp<AttentionParams>({
  id: 'scaled_dot_product_attention',
  family: 'attention',
  summary: 'Scaled dot product attention',
  torch: 'F.scaled_dot_product_attention(q, k, v, is_causal=causal, enable_gqa=heads != kvHeads)',
  size: attention,
  attributes: { causal: { title: 'Causal', kind: 'flag', default: false } },
  refuse: ({ heads, kvHeads }) => (heads % kvHeads === 0 ? undefined : `kvHeads (${kvHeads}) must divide heads (${heads})`),
  dtypes: ['f32', 'f16', 'bf16'],
  tensors: (p, dtype) => {
    const { batch, heads, kvHeads, seqQ, seqK, headDim } = p
    const leastBytes = batch * kvHeads * keysSeen(p) * headDim * (dtype === 'f32' ? 4 : 2)
    return [
      { name: 'q', shape: [batch, heads, seqQ, headDim], role: 'in', fill: { kind: 'normal', scale: 1 } },
      { name: 'k', shape: [batch, kvHeads, seqK, headDim], role: 'in', fill: { kind: 'normal', scale: 1 }, leastBytes },
      { name: 'v', shape: [batch, kvHeads, seqK, headDim], role: 'in', fill: { kind: 'normal', scale: 1 }, leastBytes },
      { name: 'out', shape: [batch, heads, seqQ, headDim], role: 'out' },
    ]
  },
  dims: ({ batch, heads, kvHeads, seqQ, seqK, headDim, causal }) => [batch, heads, kvHeads, seqQ, seqK, headDim, Number(causal)],
  flops: (p) => 4 * p.batch * p.heads * pairs(p) * p.headDim,
  unit: () => 'matrix',
  // A few neighbouring queries share their reads of the keys and values.
  granule: ({ seqQ, headDim }) => headDim * divisorUpTo(seqQ, 4),
  // Two multiply-adds a key, and the generation of a key and a value at four units an element, for so many queries together.
  referenceCost: (p) => (2 + 8 / Math.min(QUERIES, p.seqQ)) * (pairs(p) / p.seqQ) + 8,
  referenceCostAlone: (p) => (2 + 8 / divisorUpTo(p.seqQ, 4)) * keysSeen(p) + 8,
  reference: attendedRows,
  product: asProduct,
  // The weights of 16-bit kernels are rounded before they meet V, so that an output is off by a share of what it averages; a
  // query that sees few keys averages little away.
  tolerance: (p, dtype) => {
    const { relL2, element } = normalized(dtype, keysSeen(p))
    return { relL2, element: { ulp: element.ulp, abs: relL2 * Math.min(0.5, 4 * Math.sqrt(Math.E / (p.causal ? 1 : p.seqK))) } }
  },
})
