import { defineOp, arithmetic } from '../define'
import { vector } from '../forms'

type AdamwParams = { n: number; lr: number; beta1: number; beta2: number; eps: number; weightDecay: number; step: number }

const number = (title: string, usual: number, max: number) => ({ title, kind: 'number', default: usual, min: 0, max }) as const

/**
 * One step of AdamW (Loshchilov & Hutter 2019, algorithm 2, with PyTorch's order of operations):
 *
 *   m = beta1 m + (1 - beta1) grad        v = beta2 v + (1 - beta2) grad^2
 *   param = param (1 - lr weightDecay) - lr / (1 - beta1^step) * m / (sqrt(v / (1 - beta2^step)) + eps)
 *
 * PyTorch: torch.optim.AdamW([param]).step(). Tensors: param, grad, m, v, each [n]; param, m and v are read and written.
 * `step` counts from 1 and is that of this step. dims: [n], scalars: [lr, beta1, beta2, eps, weightDecay, step]. What a
 * call needs of them (1 - beta2, the corrections) is worked out in float64 before it is rounded to f32, as PyTorch does.
 * Fourteen operations per element: one of the decay, three of m, four of v, and root, scale, add, divide, scale, subtract.
 */
export default defineOp<AdamwParams>({
  id: 'adamw_step',
  family: 'optimizer',
  summary: 'One step of the AdamW optimizer',
  torch: 'torch.optim.AdamW([param], lr, (beta1, beta2), eps, weightDecay).step()',
  size: vector,
  attributes: {
    lr: number('Learning rate', 1e-3, 10), beta1: number('Beta 1', 0.9, 0.9999), beta2: number('Beta 2', 0.999, 0.999999), eps: number('Epsilon', 1e-8, 1), weightDecay: number('Weight decay', 0.01, 10),
    step: { title: 'Step', kind: 'number', whole: true, default: 100, min: 1, max: 1e9 },
  },
  dtypes: ['f32', 'f16', 'bf16'],
  tensors: ({ n }) => [
    { name: 'param', shape: [n], role: 'inout', fill: { kind: 'normal', scale: 1 } },
    { name: 'grad', shape: [n], role: 'in', fill: { kind: 'normal', scale: 1 } },
    { name: 'm', shape: [n], role: 'inout', fill: { kind: 'normal', scale: 1 } },
    { name: 'v', shape: [n], role: 'inout', fill: { kind: 'positive', scale: 1 } },
  ],
  dims: ({ n }) => [n],
  scalars: ({ lr, beta1, beta2, eps, weightDecay, step }) => [lr, beta1, beta2, eps, weightDecay, step],
  flops: ({ n }) => 14 * n,
  referenceCost: () => 4,
  reference: ({ lr, beta1, beta2, eps, weightDecay, step }, read, start, count, output) => {
    const grad = read(1, start, count)
    const moment = (input: 2 | 3) => {
      const old = read(input, start, count)
      const beta = input === 2 ? beta1 : beta2
      return Float64Array.from(old, (value, i) => beta * value + (1 - beta) * grad[i]! ** (input - 1))
    }
    if (output > 0) return moment(output === 1 ? 2 : 3)
    const param = read(0, start, count)
    const m = moment(2)
    const v = moment(3)
    // 1 - beta^step without the cancellation where beta^step is near 1.
    const correction = (beta: number) => -Math.expm1(step * Math.log(beta))
    const rate = lr / correction(beta1)
    const spread = correction(beta2)
    return Float64Array.from(param, (value, i) => value * (1 - lr * weightDecay) - (rate * m[i]!) / (Math.sqrt(v[i]! / spread) + eps))
  },
  // The terms of each sum are of magnitude 1 and may cancel.
  tolerance: (_p, dtype) => arithmetic(dtype, 1e-6),
  drifts: true,
})
