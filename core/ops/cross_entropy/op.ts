import { defineOp } from '../define'
import { matrix, withNames } from '../forms'
import { normalized } from '../tolerance'
import type { ReadInput } from '../types'

/**
 * out = mean over tokens of log(sum of e^x) - x[target], for logits x [tokens, classes] and class indices target [tokens], i32.
 * PyTorch: torch.nn.functional.cross_entropy(logits, target) with targets as int64. dims: [tokens, classes].
 * Four operations per logit (compare, subtract, exponential, add) and three per token (logarithm, subtract, add).
 */
export default defineOp<{ tokens: number; classes: number }>({
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
    for (let token = 0; token < tokens; token++) {
      const x = read(0, token * classes, classes)
      total += logSumExp(x) - x[read(1, token, 1)[0]!]!
    }
    return Float64Array.of(total / tokens)
  },
  // Of one class the loss is zero; elsewhere it is near log(classes) + 1/2.
  tolerance: ({ tokens, classes }, dtype) => normalized(dtype, Math.max(tokens, classes)),
})

/** log(sum of e^x) without overflow. */
export function logSumExp(x: ReturnType<ReadInput>): number {
  let max = x[0]!
  for (let i = 1; i < x.length; i++) if (x[i]! > max) max = x[i]!
  let sum = 0
  for (let i = 0; i < x.length; i++) sum += Math.exp(x[i]! - max)
  return max + Math.log(sum)
}
