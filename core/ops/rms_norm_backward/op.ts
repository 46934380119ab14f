import { defineOp, divisorUpTo } from '../define'
import { matrix, withNames } from '../forms'
import { accumulated, normalized } from '../tolerance'

/**
 * Gradients of rms_norm, with h = x * rstd and the saved rstd [tokens] (f32) of each token:
 *   dx = rstd * (g - h * mean of (g * h)) within a token, where g = grad * weight
 *   dweight = sum over tokens of grad * h
 * Inputs: grad, x [tokens, dim], weight [dim], rstd. rstd is filled like any input; the formulas hold for all of them.
 * PyTorch: torch.ops.aten._fused_rms_norm_backward(grad, x, [dim], rstd, weight, [True, True]).
 * dims: [tokens, dim]. Nine operations per element: one for h, one for g, two for the sum of a token, three for dx, two for dweight.
 */
export default defineOp<{ tokens: number; dim: number }>({
  id: 'rms_norm_backward',
  family: 'backward',
  summary: 'Gradients of root mean square normalisation: input and weight',
  torch: 'torch.ops.aten._fused_rms_norm_backward(grad, x, [dim], rstd, weight, [True, True])',
  size: withNames(matrix, ['tokens', 'dim']),
  dtypes: ['f32', 'f16', 'bf16'],
  tensors: ({ tokens, dim }) => [
    { name: 'grad', shape: [tokens, dim], role: 'in', fill: { kind: 'normal', scale: 1 } },
    { name: 'x', shape: [tokens, dim], role: 'in', fill: { kind: 'normal', scale: 1 } },
    { name: 'weight', shape: [dim], role: 'in', fill: { kind: 'normal', scale: 1 } },
    { name: 'rstd', shape: [tokens], storage: 'f32', role: 'in', fill: { kind: 'positive', scale: 1 } },
    { name: 'dx', shape: [tokens, dim], role: 'out' },
    { name: 'dweight', shape: [dim], role: 'out' },
  ],
  dims: ({ tokens, dim }) => [tokens, dim],
  flops: ({ tokens, dim }) => 9 * tokens * dim,
  granule: ({ dim }, output) => (output === 0 ? dim : divisorUpTo(dim, 64)),
  referenceCost: ({ tokens }, output) => (output === 0 ? 8 : 3 * tokens),
  reference: ({ tokens, dim }, read, start, count, output) => {
    const out = new Float64Array(count)
    if (output === 1) {
      const rstds = read(3, 0, tokens)
      for (let token = 0; token < tokens; token++) {
        const grad = read(0, token * dim + start, count)
        const x = read(1, token * dim + start, count)
        for (let i = 0; i < count; i++) out[i]! += grad[i]! * x[i]! * rstds[token]!
      }
      return out
    }
    const weight = read(2, 0, dim)
    const rstds = read(3, start / dim, count / dim)
    for (let at = 0, token = 0; at < count; at += dim, token++) {
      const grad = read(0, start + at, dim)
      const x = read(1, start + at, dim)
      const rstd = rstds[token]!
      let dot = 0
      for (let i = 0; i < dim; i++) dot += grad[i]! * weight[i]! * x[i]! * rstd
      for (let i = 0; i < dim; i++) out[at + i] = rstd * (grad[i]! * weight[i]! - x[i]! * rstd * (dot / dim))
    }
    return out
  },
  tolerance: ({ tokens, dim }, dtype, output) => (output === 0 ? normalized(dtype, dim, 4) : accumulated(dtype, tokens, 2)),
  outputScale: ({ tokens }, output) => (output === 0 ? 0 : Math.sqrt(tokens)),
})
