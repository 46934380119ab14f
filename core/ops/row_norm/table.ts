import { numberAt, tokensOf } from '../aten'
import { EPS, withEps } from '../attributes'
import { defineOp, divisorUpTo, normalized, accumulated, runsOfRows, WORTH_A_READ } from '../define'
import { matrix, withNames } from '../forms'
import { rowOp } from '../rows'
import type { InputValues, ReadInput } from '../types'

/**
 * For every token t of x [tokens, dim]: out = (x - mean) / sqrt(variance + eps) * weight + bias, with the mean and the
 * biased variance of that token (Ba, Kiros & Hinton 2016). Inputs: x [tokens, dim], weight [dim], bias [dim].
 * PyTorch: torch.nn.functional.layer_norm(x, [dim], weight, bias). dims: [tokens, dim], scalars: [eps].
 * Seven operations per element: add for the mean, subtract, square, add for the variance, scale, weight, bias.
 */
export const layerNorm = rowOp({
  id: 'layer_norm',
  family: 'normalization',
  summary: 'Layer normalisation over the last axis',
  representative: true,
  torch: 'F.layer_norm(x, [dim], weight, bias, eps)',
  aten: [{ names: ['native_layer_norm'], params: (call) => withEps(tokensOf(call, 0), numberAt(call, 4, 1e-5)) }],
  extents: ['tokens', 'dim'],
  shared: ['weight', 'bias'],
  attributes: EPS,
  flops: 7,
  cost: 6,
  row: (out, [x], [weight, bias], [eps]) => {
    const dim = out.length
    let sum = 0
    for (let i = 0; i < dim; i++) sum += x![i]!
    const mean = sum / dim
    let squares = 0
    for (let i = 0; i < dim; i++) squares += (x![i]! - mean) ** 2
    const scale = 1 / Math.sqrt(squares / dim + eps!)
    for (let i = 0; i < dim; i++) out[i] = (x![i]! - mean) * scale * weight![i]! + bias![i]!
  },
  tolerance: (dtype, dim) => normalized(dtype, dim, 4),
})

type NormParams = { tokens: number; dim: number }

/** What both gradients read besides the saved statistics: grad and x [tokens, dim], weight [dim]. */
const gradientInputs = (tokens: number, dim: number) =>
  ([['grad', [tokens, dim]], ['x', [tokens, dim]], ['weight', [dim]]] as const).map(([name, shape]) => ({ name, shape, role: 'in' as const, fill: { kind: 'normal' as const, scale: 1 } }))

/**
 * Gradients of layer_norm, with h = (x - mean) * rstd and the saved mean [tokens] and rstd [tokens] (f32) of each token:
 *   dx = rstd * (g - mean of g - h * mean of (g * h)) within a token, where g = grad * weight
 *   dweight = sum over tokens of grad * h,   dbias = sum over tokens of grad
 * Inputs: grad, x [tokens, dim], weight [dim], mean, rstd. The statistics are filled like any input; the formulas hold for all of them.
 * PyTorch: torch.ops.aten.native_layer_norm_backward(grad, x, [dim], mean, rstd, weight, bias, [True, True, True]).
 * dims: [tokens, dim]. Thirteen operations per element: two for h, one for g, three for the sums of a token, four for dx, three for dweight and dbias.
 */
export const layerNormBackward = defineOp<NormParams>({
  id: 'layer_norm_backward',
  family: 'backward',
  summary: 'Gradients of layer normalisation: input, weight and bias',
  torch: 'torch.ops.aten.native_layer_norm_backward(grad, x, [dim], mean, rstd, weight, bias, [True, True, True])',
  aten: [{ names: ['native_layer_norm_backward'], params: (call) => tokensOf(call, 1) }],
  size: withNames(matrix, ['tokens', 'dim']),
  dtypes: ['f32', 'f16', 'bf16'],
  tensors: ({ tokens, dim }) => [
    ...gradientInputs(tokens, dim),
    { name: 'mean', shape: [tokens], storage: 'f32', role: 'in', fill: { kind: 'normal', scale: 0.125 } },
    { name: 'rstd', shape: [tokens], storage: 'f32', role: 'in', fill: { kind: 'positive', scale: 1 } },
    { name: 'dx', shape: [tokens, dim], role: 'out' },
    { name: 'dweight', shape: [dim], role: 'out' },
    { name: 'dbias', shape: [dim], role: 'out' },
  ],
  dims: ({ tokens, dim }) => [tokens, dim],
  flops: ({ tokens, dim }) => 13 * tokens * dim,
  granule: ({ dim }, output) => (output === 0 ? dim : divisorUpTo(dim, 64)),
  referenceCost: ({ tokens }, output) => (output === 0 ? 10 : 3 * tokens),
  reference: (p, read, start, count, output) => (output === 0 ? inputGradient(p, read, start, count) : parameterGradient(p, read, start, count, output === 1)),
  tolerance: ({ tokens, dim }, dtype, output) => (output === 0 ? normalized(dtype, dim, 4) : accumulated(dtype, tokens, 2)),
  // Sums of products of unit normals, and of unit normals.
  outputScale: ({ tokens }, output) => (output === 0 ? 0 : Math.sqrt(tokens)),
})

function inputGradient({ dim }: NormParams, read: ReadInput, start: number, count: number): Float64Array {
  const weight = read(2, 0, dim)
  const means = read(3, start / dim, count / dim)
  const rstds = read(4, start / dim, count / dim)
  const grad = read(0, start, count)
  const x = read(1, start, count)
  const dx = new Float64Array(count)
  for (let at = 0, token = 0; at < count; at += dim, token++) {
    const mean = means[token]!
    const rstd = rstds[token]!
    let sum = 0
    let dot = 0
    for (let i = 0; i < dim; i++) {
      const g = grad[at + i]! * weight[i]!
      sum += g
      dot += g * (x[at + i]! - mean) * rstd
    }
    for (let i = 0; i < dim; i++) dx[at + i] = rstd * (grad[at + i]! * weight[i]! - sum / dim - (x[at + i]! - mean) * rstd * (dot / dim))
  }
  return dx
}

/**
 * Sums over all tokens of `inputs` [tokens, dim], of columns `start .. start + count`: `add` gets a token and what was read, in which its columns begin at `at`.
 * Rows that are not much longer than the columns are read whole, many at a time.
 */
function overTokens({ tokens, dim }: NormParams, read: ReadInput, inputs: number, start: number, count: number, add: (token: number, parts: readonly InputValues[], at: number) => void): void {
  const numbers = Array.from({ length: inputs }, (_, i) => i)
  if (dim - count > WORTH_A_READ) {
    for (let token = 0; token < tokens; token++) add(token, numbers.map((i) => read(i, token * dim + start, count)), 0)
    return
  }
  for (const [first, some] of runsOfRows(tokens, dim)) {
    const parts = numbers.map((i) => read(i, first * dim, some * dim))
    for (let t = 0; t < some; t++) add(first + t, parts, t * dim + start)
  }
}

function parameterGradient(p: NormParams, read: ReadInput, start: number, count: number, ofWeight: boolean): Float64Array {
  const out = new Float64Array(count)
  if (!ofWeight) {
    overTokens(p, read, 1, start, count, (_token, [grad], at) => {
      for (let i = 0; i < count; i++) out[i]! += grad![at + i]!
    })
    return out
  }
  const means = read(3, 0, p.tokens)
  const rstds = read(4, 0, p.tokens)
  overTokens(p, read, 2, start, count, (token, [grad, x], at) => {
    const mean = means[token]!
    const rstd = rstds[token]!
    for (let i = 0; i < count; i++) out[i]! += grad![at + i]! * (x![at + i]! - mean) * rstd
  })
  return out
}

/**
 * For every token of x [tokens, dim]: out = x / sqrt(mean of x² + eps) * weight, the mean taken within the token
 * (Zhang & Sennrich 2019). Inputs: x [tokens, dim], weight [dim].
 * PyTorch: torch.nn.functional.rms_norm(x, [dim], weight, eps). dims: [tokens, dim], scalars: [eps].
 * Four operations per element: square, add, scale, weight.
 */
export const rmsNorm = rowOp({
  id: 'rms_norm',
  family: 'normalization',
  summary: 'Root mean square normalisation over the last axis',
  torch: 'F.rms_norm(x, [dim], weight, eps)',
  aten: [{ names: ['_fused_rms_norm'], params: (call) => withEps(tokensOf(call, 0), numberAt(call, 3, 1e-5)) }],
  extents: ['tokens', 'dim'],
  shared: ['weight'],
  attributes: EPS,
  flops: 4,
  cost: 5,
  row: (out, [x], [weight], [eps]) => {
    const dim = out.length
    let squares = 0
    for (let i = 0; i < dim; i++) squares += x![i]! * x![i]!
    const scale = 1 / Math.sqrt(squares / dim + eps!)
    for (let i = 0; i < dim; i++) out[i] = x![i]! * scale * weight![i]!
  },
  tolerance: normalized,
})

/**
 * Gradients of rms_norm, with h = x * rstd and the saved rstd [tokens] (f32) of each token:
 *   dx = rstd * (g - h * mean of (g * h)) within a token, where g = grad * weight
 *   dweight = sum over tokens of grad * h
 * Inputs: grad, x [tokens, dim], weight [dim], rstd. rstd is filled like any input; the formulas hold for all of them.
 * PyTorch: torch.ops.aten._fused_rms_norm_backward(grad, x, [dim], rstd, weight, [True, True]).
 * dims: [tokens, dim]. Nine operations per element: one for h, one for g, two for the sum of a token, three for dx, two for dweight.
 */
export const rmsNormBackward = defineOp<{ tokens: number; dim: number }>({
  id: 'rms_norm_backward',
  family: 'backward',
  summary: 'Gradients of root mean square normalisation: input and weight',
  torch: 'torch.ops.aten._fused_rms_norm_backward(grad, x, [dim], rstd, weight, [True, True])',
  size: withNames(matrix, ['tokens', 'dim']),
  dtypes: ['f32', 'f16', 'bf16'],
  tensors: ({ tokens, dim }) => [
    ...gradientInputs(tokens, dim),
    { name: 'rstd', shape: [tokens], storage: 'f32', role: 'in', fill: { kind: 'positive', scale: 1 } },
    { name: 'dx', shape: [tokens, dim], role: 'out' },
    { name: 'dweight', shape: [dim], role: 'out' },
  ],
  dims: ({ tokens, dim }) => [tokens, dim],
  flops: ({ tokens, dim }) => 9 * tokens * dim,
  granule: ({ dim }, output) => (output === 0 ? dim : divisorUpTo(dim, 64)),
  referenceCost: ({ tokens }, output) => (output === 0 ? 8 : 3 * tokens),
  reference: (p, read, start, count, output) => {
    const { tokens, dim } = p
    const out = new Float64Array(count)
    if (output === 1) {
      const rstds = read(3, 0, tokens)
      overTokens(p, read, 2, start, count, (token, [grad, x], at) => {
        const rstd = rstds[token]!
        for (let i = 0; i < count; i++) out[i]! += grad![at + i]! * x![at + i]! * rstd
      })
      return out
    }
    const weight = read(2, 0, dim)
    const rstds = read(3, start / dim, count / dim)
    const grad = read(0, start, count)
    const x = read(1, start, count)
    for (let at = 0, token = 0; at < count; at += dim, token++) {
      const rstd = rstds[token]!
      let dot = 0
      for (let i = 0; i < dim; i++) dot += grad[at + i]! * weight[i]! * x[at + i]! * rstd
      for (let i = 0; i < dim; i++) out[at + i] = rstd * (grad[at + i]! * weight[i]! - x[at + i]! * rstd * (dot / dim))
    }
    return out
  },
  tolerance: ({ tokens, dim }, dtype, output) => (output === 0 ? normalized(dtype, dim, 4) : accumulated(dtype, tokens, 2)),
  outputScale: ({ tokens }, output) => (output === 0 ? 0 : Math.sqrt(tokens)),
})

export default [layerNorm, layerNormBackward, rmsNorm, rmsNormBackward]
