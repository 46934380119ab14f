import elementwise from '../elementwise/table'
import { matmul } from '../product/table'
import { layerNormBackward } from '../row_norm/table'
import softmaxes from '../softmax/table'
import sumToShape from '../sum_to_shape/op'
import type { GradientPart } from '../types'

const ofTable = <T extends { id: string }>(table: readonly T[], id: string): T => table.find((op) => op.id === id)!
const add = ofTable(elementwise, 'add')
const geluBackward = ofTable(elementwise, 'gelu_backward')
const softmax = ofTable(softmaxes, 'softmax')
const softmaxBackward = ofTable(softmaxes, 'softmax_backward')

/** Gradients of out = in weightᵀ + bias for every token: of the input, the weight and the bias. */
const linear = (name: string, tokens: number, inputs: number, features: number): GradientPart[] => [
  { name: `${name}_dx`, op: matmul, params: { m: tokens, n: inputs, k: features } },
  { name: `${name}_dweight`, op: matmul, params: { m: features, n: inputs, k: tokens, transA: true } },
  { name: `${name}_dbias`, op: sumToShape, params: { rows: tokens, cols: features, broadcast: 'row' } },
]

/**
 * The backward pass of a transformer block, from the last part to the first. The gradient of attention is that without
 * fusion: the probabilities are computed again, then four products and the gradient of softmax.
 */
export function backwardParts({ batch, seq, dim, heads, mlpRatio }: { batch: number; seq: number; dim: number; heads: number; mlpRatio: number }): GradientPart[] {
  const tokens = batch * seq
  const hidden = mlpRatio * dim
  const groups = { batch: batch * heads }
  const headDim = dim / heads
  const scores = { ...groups, m: seq, n: seq, k: headDim, transB: true }
  const rows = { rows: batch * heads * seq, cols: seq }
  const norm = (name: string): GradientPart => ({ name: `${name}_backward`, op: layerNormBackward, params: { tokens, dim } })
  return [
    ...linear('fc2', tokens, hidden, dim),
    { name: 'gelu_backward', op: geluBackward, params: { n: tokens * hidden } },
    ...linear('fc1', tokens, dim, hidden),
    norm('norm2'),
    { name: 'residual2_dx', op: add, params: { n: tokens * dim } },
    ...linear('proj', tokens, dim, dim),
    { name: 'attention_scores', op: matmul, params: scores },
    { name: 'attention_softmax', op: softmax, params: rows },
    { name: 'attention_dv', op: matmul, params: { ...groups, m: seq, n: headDim, k: seq, transA: true } },
    { name: 'attention_dp', op: matmul, params: scores },
    { name: 'attention_dsoftmax', op: softmaxBackward, params: rows },
    { name: 'attention_dq', op: matmul, params: { ...groups, m: seq, n: headDim, k: seq } },
    { name: 'attention_dk', op: matmul, params: { ...groups, m: seq, n: headDim, k: seq, transA: true } },
    ...linear('qkv', tokens, dim, 3 * dim),
    norm('norm1'),
    { name: 'residual1_dx', op: add, params: { n: tokens * dim } },
  ]
}
