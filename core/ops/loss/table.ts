import { numberAt, shapeAt } from '../aten'
import { defineOp, elementsOf, normalized, accumulated, runsOfRows } from '../define'
import { matrix, withNames, vector } from '../forms'
import { logSumExp } from '../rows'

/**
 * out = mean over tokens of log(sum of e^x) - x[target], for logits x [tokens, classes] and class indices target [tokens], i32.
 * PyTorch: torch.nn.functional.cross_entropy(logits, target) with targets as int64. dims: [tokens, classes].
 * Four operations per logit (compare, subtract, exponential, add) and three per token (logarithm, subtract, add).
 */
export const crossEntropy = defineOp<{ tokens: number; classes: number }>({
  id: 'cross_entropy',
  family: 'loss',
  summary: 'Cross entropy of logits and class indices, mean over tokens',
  torch: 'F.cross_entropy(logits, target)',
  size: withNames(matrix, ['tokens', 'classes']),
  dtypes: ['f32', 'f16', 'bf16'],
  tensors: ({ tokens, classes }) => [
    { name: 'logits', shape: [tokens, classes], role: 'in', fill: { kind: 'normal', scale: 1 } },
    { name: 'target', shape: [tokens], storage: 'i32', role: 'in', fill: { kind: 'integers', below: classes } },
    { name: 'out', shape: [1], role: 'out' },
  ],
  dims: ({ tokens, classes }) => [tokens, classes],
  flops: ({ tokens, classes }) => 4 * tokens * classes + 3 * tokens,
  unit: () => 'special',
  referenceCost: ({ tokens, classes }) => 7 * tokens * classes,
  reference: ({ tokens, classes }, read) => {
    let total = 0
    for (const [first, count] of runsOfRows(tokens, classes)) {
      const x = read(0, first * classes, count * classes)
      const target = read(1, first, count)
      for (let i = 0; i < count; i++) total += logSumExp(x, i * classes, classes) - x[i * classes + target[i]!]!
    }
    return Float64Array.of(total / tokens)
  },
  // Of one class the loss is zero; elsewhere it is near log(classes) + 1/2.
  tolerance: ({ tokens, classes }, dtype) => normalized(dtype, Math.max(tokens, classes)),
})

/** The gradient of the loss that the fill gives: a power of two that keeps gradients of 16-bit types from vanishing, as loss scaling does (Micikevicius et al. 2018). */
const lossScale = (tokens: number): number => 2 ** Math.ceil(Math.log2(tokens))

/**
 * Gradient of F.cross_entropy(logits, target), mean reduction: out = (softmax(x) - [class is target]) * grad / tokens, for logits
 * x [tokens, classes], target [tokens] (i32) and the gradient grad [1] (f32) of the loss.
 * PyTorch: torch.autograd.grad(loss, logits, grad). dims: [tokens, classes].
 * Six operations per logit: compare, subtract, exponential, add, scale, subtract.
 */
export const crossEntropyBackward = defineOp<{ tokens: number; classes: number }>({
  id: 'cross_entropy_backward',
  family: 'backward',
  summary: 'Gradient of cross entropy with respect to the logits',
  torch: 'torch.autograd.grad(F.cross_entropy(logits, target), logits, grad)',
  size: withNames(matrix, ['tokens', 'classes']),
  dtypes: ['f32', 'f16', 'bf16'],
  tensors: ({ tokens, classes }) => [
    { name: 'logits', shape: [tokens, classes], role: 'in', fill: { kind: 'normal', scale: 1 } },
    { name: 'target', shape: [tokens], storage: 'i32', role: 'in', fill: { kind: 'integers', below: classes } },
    { name: 'grad', shape: [1], storage: 'f32', role: 'in', fill: { kind: 'constant', value: lossScale(tokens) } },
    { name: 'out', shape: [tokens, classes], role: 'out' },
  ],
  dims: ({ tokens, classes }) => [tokens, classes],
  flops: ({ tokens, classes }) => 6 * tokens * classes,
  unit: () => 'special',
  granule: ({ classes }) => classes,
  referenceCost: () => 10,
  reference: ({ tokens, classes }, read, start, count) => {
    const scale = read(2, 0, 1)[0]! / tokens
    const target = read(1, start / classes, count / classes)
    const x = read(0, start, count)
    const out = new Float64Array(count)
    for (let at = 0, token = 0; at < count; at += classes, token++) {
      const shift = logSumExp(x, at, classes)
      for (let i = at; i < at + classes; i++) out[i] = Math.exp(x[i]! - shift) * scale
      // 1 - softmax loses digits where softmax is near 1: added up from the other classes instead.
      let others = 0
      const hit = at + target[token]!
      for (let i = at; i < at + classes; i++) if (i !== hit) others += out[i]!
      out[hit] = -others
    }
    return out
  },
  // As softmax, times a gradient of 1 to 2 a token.
  tolerance: ({ classes }, dtype) => normalized(dtype, classes, Math.min(1, 40 / classes)),
})

/**
 * Mean squared error: mean of (x[i] - target[i])^2. PyTorch: F.mse_loss(x, target). Inputs: x [n], target [n]; output [1].
 * dims: [n]. Three operations per element; accumulated in f32.
 */
export const mseLoss = defineOp<{ n: number }>({
  id: 'mse_loss',
  family: 'loss',
  summary: 'Mean squared error',
  torch: 'F.mse_loss(x, target)',
  aten: [{ names: ['mse_loss'], params: (call) => { const shape = shapeAt(call, 0); return shape && numberAt(call, 2, 1) === 1 ? { n: elementsOf(shape) } : undefined } }],
  size: vector,
  dtypes: ['f32', 'f16', 'bf16'],
  tensors: ({ n }) => [
    { name: 'x', shape: [n], role: 'in', fill: { kind: 'normal', scale: 1 } },
    { name: 'target', shape: [n], role: 'in', fill: { kind: 'normal', scale: 1 } },
    { name: 'out', shape: [1], role: 'out' },
  ],
  dims: ({ n }) => [n],
  flops: ({ n }) => 3 * n,
  referenceCost: ({ n }) => 3 * n,
  reference: ({ n }, read) => {
    let sum = 0
    for (const [from, count] of runsOfRows(n)) {
      const x = read(0, from, count)
      const target = read(1, from, count)
      for (let i = 0; i < count; i++) sum += (x[i]! - target[i]!) ** 2
    }
    return Float64Array.of(sum / n)
  },
  // The difference of two unit normals has variance 2: the sum is about 2n, its mean 2.
  tolerance: ({ n }, dtype) => accumulated(dtype, n, 2 / Math.sqrt(n)),
})

export default [crossEntropy, crossEntropyBackward, mseLoss]
