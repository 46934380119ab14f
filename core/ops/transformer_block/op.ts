import { defineComposite } from '../composite'
import attention from '../scaled_dot_product_attention/op'
import elementwise from '../elementwise/table'
import { block } from '../forms'
import { layerNorm } from '../row_norm/table'
import { matmul } from '../product/table'
import { blockTolerance } from '../define'
import { backwardParts } from './backward'
import type { CompositePart, PartSource } from '../types'

type BlockParams = { batch: number; seq: number; dim: number; heads: number; mlpRatio: number }

const add = elementwise.find(({ id }) => id === 'add')!
const gelu = elementwise.find(({ id }) => id === 'gelu')!

/** Spread of the weights of a linear layer of `inputs` features: its outputs keep the size of its inputs. A power of two, exact in every dtype. */
const spread = (inputs: number): number => 2 ** -Math.round(Math.log2(inputs) / 2)

/** out = in weightᵀ + bias for every token: weight [features, inputs], bias [features]. */
function linear(name: string, from: PartSource, tokens: number, inputs: number, features: number): CompositePart[] {
  return [
    { name, op: matmul, params: { m: tokens, n: features, k: inputs, transB: true }, inputs: { a: from, b: `${name}_weight` } },
    { name: `${name}_bias`, op: add, params: { n: tokens * features, broadcast: 'row', cols: features }, inputs: { a: `${name}.out`, b: `${name}_bias` } },
  ]
}

/**
 * One layer of a transformer encoder with the norms before (Xiong et al. 2020), for x [batch, seq, dim]:
 *   y = x + proj(attention(qkv(layer_norm1(x)))),  out = y + fc2(gelu(fc1(layer_norm2(y))))
 * qkv, proj, fc1 and fc2 are linear layers (in weightᵀ + bias) of dim -> 3 dim, dim -> dim, dim -> mlpRatio dim, mlpRatio dim -> dim;
 * attention is scaled dot product attention over `heads` heads of dim / heads elements, not causal; gelu is that with erf; eps 1e-5; no dropout.
 * PyTorch: torch.nn.TransformerEncoderLayer(dim, heads, mlpRatio * dim, 0.0, 'gelu', batch_first=True, norm_first=True), whose
 * parameters are the tensors after x in its order: qkv is self_attn.in_proj, proj self_attn.out_proj, fc1 and fc2 linear1 and linear2.
 * dims: [batch, seq, dim, heads, mlpRatio]. Operations: those of the parts.
 */
export default defineComposite<BlockParams>({
  id: 'transformer_block',
  family: 'composite',
  summary: 'Transformer encoder layer, norms first',
  torch: "torch.nn.TransformerEncoderLayer(dim, heads, mlpRatio * dim, 0.0, 'gelu', batch_first=True, norm_first=True)(x)",
  size: block,
  refuse: ({ dim, heads }) => (dim % heads === 0 ? undefined : `heads (${heads}) must divide dim (${dim})`),
  dtypes: ['f32', 'f16', 'bf16'],
  tensors: ({ batch, seq, dim, mlpRatio }) => {
    const hidden = mlpRatio * dim
    const vector = (name: string, elements: number) => ({ name, shape: [elements], role: 'in', fill: { kind: 'normal', scale: 1 } }) as const
    const layer = (name: string, inputs: number, features: number) =>
      [{ name: `${name}_weight`, shape: [features, inputs], role: 'in', fill: { kind: 'normal', scale: spread(inputs) } }, { name: `${name}_bias`, shape: [features], role: 'in', fill: { kind: 'normal', scale: 0.25 } }] as const
    return [
      { name: 'x', shape: [batch, seq, dim], role: 'in', fill: { kind: 'normal', scale: 1 } },
      ...layer('qkv', dim, 3 * dim), ...layer('proj', dim, dim), ...layer('fc1', dim, hidden), ...layer('fc2', hidden, dim),
      vector('norm1_weight', dim), vector('norm1_bias', dim), vector('norm2_weight', dim), vector('norm2_bias', dim),
      { name: 'out', shape: [batch, seq, dim], role: 'out' },
    ]
  },
  dims: ({ batch, seq, dim, heads, mlpRatio }) => [batch, seq, dim, heads, mlpRatio],
  parts: ({ batch, seq, dim, heads, mlpRatio }) => {
    const tokens = batch * seq
    const headDim = dim / heads
    const hidden = mlpRatio * dim
    // [batch, heads, seq, headDim] of the q, k or v third of every token.
    const third = (index: number): PartSource => ({ of: 'qkv_bias.out', offset: index * dim, shape: [batch, heads, seq, headDim], strides: [seq * 3 * dim, headDim, 3 * dim, 1] })
    const joined: PartSource = { of: 'attention.out', shape: [batch, seq, heads, headDim], strides: [heads * seq * headDim, headDim, seq * headDim, 1] }
    const norm = (name: string, x: string): CompositePart => ({ name, op: layerNorm, params: { tokens, dim }, inputs: { x, weight: `${name}_weight`, bias: `${name}_bias` } })
    return [
      norm('norm1', 'x'),
      ...linear('qkv', 'norm1.out', tokens, dim, 3 * dim),
      { name: 'attention', op: attention, params: { batch, heads, seqQ: seq, headDim }, inputs: { q: third(0), k: third(1), v: third(2) } },
      ...linear('proj', joined, tokens, dim, dim),
      { name: 'residual1', op: add, params: { n: tokens * dim }, inputs: { a: 'x', b: 'proj_bias.out' } },
      norm('norm2', 'residual1.out'),
      ...linear('fc1', 'norm2.out', tokens, dim, hidden),
      { name: 'gelu', op: gelu, params: { n: tokens * hidden }, inputs: { x: 'fc1_bias.out' } },
      ...linear('fc2', 'gelu.out', tokens, hidden, dim),
      { name: 'residual2', op: add, params: { n: tokens * dim }, inputs: { a: 'residual1.out', b: 'fc2_bias.out' } },
    ]
  },
  gradientParts: backwardParts,
  // Multiply-adds of a token over its dim elements. A token alone has the queries, keys and values of its whole sequence computed.
  referenceCost: ({ seq, dim, mlpRatio }) => (4 + 2 * mlpRatio) * dim + 2 * seq,
  referenceCostAlone: ({ seq, dim, mlpRatio }) => (1 + 3 * seq + 2 * mlpRatio) * dim + 2 * seq,
  tolerance: ({ seq, dim, mlpRatio }, dtype) => blockTolerance(dtype, Math.max(seq, dim * mlpRatio)),
})
