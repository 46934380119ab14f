import { widthFor } from '../../wgsl/header'
import { isMeanInOne, joinPrograms, rowSteps } from '../../wgsl/row-op/steps'
import type { RowOp, RowPass, RowTensor } from '../../wgsl/row-op/types'
import { LOWEST } from '../../wgsl/row-op/text'
import { FOLDS, type Times } from '../reduction/fold'
import { columnPlan, FoldSteps } from '../reduction/steps'
import { dimOf, type Kernel, type KernelShape, type Program } from '../types'
import { groupNorm } from './group-norm'
import { longNormBackward } from './long-norm-backward'
import { fusedNormBackward } from './norm-backward'
import { smallNormBackward } from './small-norm-backward'

const row = (name: string, input: number): RowTensor => ({ name, from: { input }, by: 'row' })
const column = (name: string, input: number): RowTensor => ({ name, from: { input }, by: 'column' })
const raw = (name: string, input: number, type?: 'f32' | 'i32'): RowTensor => ({ name, from: { input }, by: 'raw', ...(type ? { type } : {}) })

const SOFTMAX: RowPass = { softmax: 'x', highest: 'highest', total: 'total' }
const floatOf = (shape: KernelShape) => (shape.dtype === 'f16' ? 'f16' : 'f32')
const FLOATS = ['f32', 'f16'] as const

/** Rows and their length are the first two dims. */
const over = (shape: KernelShape, op: RowOp, scratchFrom = 0): Program => rowSteps({ ...op, scalars: shape.scalars }, shape, dimOf(shape, 0), dimOf(shape, 1), scratchFrom)

const rowKernel = (op: RowOp): Kernel => ({ dtypes: FLOATS, build: (shape) => over(shape, op) })

/** Mean over the tokens of log(sum of e^x) - x[target]. */
const crossEntropy: Kernel = {
  dtypes: FLOATS,
  build: (shape) => {
    const tokens = dimOf(shape, 0)
    const loss = 'highest + log(total) - hit'
    // Read before the passes, so that no load waits for them.
    const op = { tensors: [row('x', 0), raw('logits', 0), raw('target_of', 1, 'i32')], before: '  let hit = f32(logits[row * dim(2u) + u32(target_of[row])]);', passes: [SOFTMAX] }
    if (isMeanInOne(tokens, dimOf(shape, 1), shape)) return over(shape, { ...op, result: { mean: loss, to: 'output', arrivals: { scratch: 0 } } })
    const losses = over(shape, { ...op, result: { once: loss, to: { scratch: 0 }, type: 'f32' } }, 1)
    const scratchBytes = [4 * tokens, ...losses.scratchBytes]
    const mean = new FoldSteps(shape, FOLDS['mean']!, floatOf(shape), tokens, 'output', scratchBytes.length)
    mean.rows({ from: { scratch: 0 }, type: 'f32' }, 1, tokens, true)
    return { scratchBytes: [...scratchBytes, ...mean.scratchBytes], steps: [...losses.steps, ...mean.steps] }
  },
}

/** 1 - softmax loses digits where softmax is near 1: what the target gets is added up from the other classes, of which alone the pass is. */
const crossEntropyBackward = rowKernel({
  tensors: [row('x', 0), raw('logits', 0), raw('target_of', 1, 'i32'), raw('loss_grad', 2, 'f32')],
  // Read before the pass, so that no load waits for it.
  before: `  let own_class = u32(target_of[row]);
  let hit = VU(own_class);
  let hit_value = f32(logits[row * dim(2u) + own_class]);
  let mean_grad = loss_grad[0] / f32(dim(0u));`,
  passes: [{ softmax: `select(x, VF(${LOWEST}), index == hit)`, highest: 'highest_other', total: 'total_other' }],
  after: `  let highest = max(highest_other, hit_value);
  let others = total_other * exp(highest_other - highest);
  let scale = mean_grad / (others + exp(hit_value - highest));`,
  result: { each: 'select(exp(x - highest), VF(-others), index == hit) * scale', to: 'output' },
})

/** h = (x - mean) * rstd of an element, without the mean for rms_norm. */
const NORMED = { layer: '(x - mean) * rstd', rms: 'x * rstd' } as const

/** Elements up to which one dispatch is faster than two that read each element once. */
const LITTLE = 2 ** 19

/** dx by rows, then the sums over tokens for dweight and, with a mean, dbias. */
const normBackward = (kind: keyof typeof NORMED): Kernel => ({
  dtypes: FLOATS,
  build: (shape) => {
    const h = NORMED[kind]
    const layer = kind === 'layer'
    const isLittle = dimOf(shape, 0) * dimOf(shape, 1) <= LITTLE
    const fused = longNormBackward(shape, layer) ?? (isLittle ? undefined : fusedNormBackward(shape, layer)) ?? smallNormBackward(shape, layer) ?? fusedNormBackward(shape, layer)
    if (fused) return fused
    const saved = layer ? [raw('mean_of', 3, 'f32'), raw('rstd_of', 4, 'f32')] : [raw('rstd_of', 3, 'f32')]
    const dx = over(shape, {
      tensors: [row('grad', 0), row('x', 1), column('weight', 2), ...saved],
      before: `  let rstd = rstd_of[row];${layer ? ' let mean = mean_of[row];' : ''}`,
      passes: [{ sums: { ...(layer ? { plain: 'grad * weight' } : {}), along: `grad * weight * ${h}` } }],
      result: { each: `rstd * (grad * weight${layer ? ' - plain / length' : ''} - ${h} * (along / length))`, to: 'output' },
    })
    const sums = (output: number, times?: Times): Program => {
      const steps = new FoldSteps(shape, FOLDS['sum']!, floatOf(shape), dimOf(shape, 0), { output })
      steps.columns({ from: { input: 0 }, type: floatOf(shape) }, 1, dimOf(shape, 0), dimOf(shape, 1), true, times)
      return steps
    }
    // Sums that are one step are those of dweight and of dbias.
    const width = widthFor(dimOf(shape, 1))
    const { parts, joined } = columnPlan(1, dimOf(shape, 0), dimOf(shape, 1) / width, width, shape.threads)
    const together = layer && (parts === 1 || joined)
    const dweight = sums(1, { x: { input: 1 }, rstd: saved.at(-1)!.from, ...(layer ? { mean: saved[0]!.from } : {}), ...(together ? { plain: { output: 2 } } : {}) })
    return joinPrograms([dx, dweight, ...(layer && !together ? [sums(2)] : [])])
  },
})

const kernels: Readonly<Record<string, Kernel>> = {
  softmax: rowKernel({ tensors: [row('x', 0)], passes: [SOFTMAX], after: '  let scale = 1.0 / total;', result: { each: 'exp(x - highest) * scale', to: 'output' } }),
  log_softmax: rowKernel({ tensors: [row('x', 0)], passes: [SOFTMAX], after: '  let shift = highest + log(total);', result: { each: 'x - shift', to: 'output' } }),
  softmax_backward: rowKernel({ tensors: [row('grad', 0), row('y', 1)], passes: [{ sums: { along: 'grad * y' } }], result: { each: 'y * (grad - along)', to: 'output' } }),
  // The variance is taken around the mean, so it cannot cancel.
  layer_norm: rowKernel({
    tensors: [row('x', 0), column('weight', 1), column('bias', 2)],
    passes: [{ moments: 'x', sum: 'sum', squares: 'squares' }],
    after: '  let mean = sum / length; let rstd = inverseSqrt(squares / length + scalar(0u));',
    result: { each: '(x - mean) * rstd * weight + bias', to: 'output' },
  }),
  rms_norm: rowKernel({
    tensors: [row('x', 0), column('weight', 1)],
    passes: [{ sums: { squares: 'x * x' } }],
    after: '  let rstd = inverseSqrt(squares / length + scalar(0u));',
    result: { each: 'x * rstd * weight', to: 'output' },
  }),
  cross_entropy: crossEntropy,
  cross_entropy_backward: crossEntropyBackward,
  layer_norm_backward: normBackward('layer'),
  rms_norm_backward: normBackward('rms'),
  group_norm: groupNorm,
}
export default kernels
