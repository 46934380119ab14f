import { logSumExp } from '../cross_entropy/op'
import { defineOp } from '../define'
import { matrix, withNames } from '../forms'
import { normalized } from '../tolerance'

/** The gradient of the loss that the fill gives: a power of two that keeps gradients of 16-bit types from vanishing, as loss scaling does (Micikevicius et al. 2018). */
const lossScale = (tokens: number): number => 2 ** Math.ceil(Math.log2(tokens))

/**
 * Gradient of F.cross_entropy(logits, target), mean reduction: out = (softmax(x) - [class is target]) * grad / tokens, for logits
 * x [tokens, classes], target [tokens] (i32) and the gradient grad [1] (f32) of the loss.
 * PyTorch: torch.autograd.grad(loss, logits, grad). dims: [tokens, classes].
 * Six operations per logit: compare, subtract, exponential, add, scale, subtract.
 */
export default defineOp<{ tokens: number; classes: number }>({
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
    const out = new Float64Array(count)
    for (let at = 0, token = 0; at < count; at += classes, token++) {
      const x = read(0, start + at, classes)
      const shift = logSumExp(x)
      for (let i = 0; i < classes; i++) out[at + i] = Math.exp(x[i]! - shift) * scale
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
