import { mapped } from '../../wgsl/mapped'
import { joinPrograms, ROW_DIMS, rowSteps, type RowOp } from '../../wgsl/row-op'
import { FOLDS } from '../reduction/fold'
import { FoldSteps } from '../reduction/steps'
import { dimOf, type BufferName, type Kernel, type KernelShape, type Program } from '../types'

/** Places of batch, channels and plane of the op's dims among those of a mapped kernel. */
const PLACE = 'i / dim(2u) % dim(1u)'

function normalised(shape: KernelShape, mean: BufferName, spread: BufferName, rstd: string): Program {
  const [batch, channels, plane] = [dimOf(shape, 0), dimOf(shape, 1), dimOf(shape, 2)]
  const wide = plane % 4 === 0
  const type = wide ? 'own4' : 'own'
  const working = wide ? 'vec4<f32>' : 'f32'
  return mapped({
    tensors: [{ name: 'x', at: { input: 0 }, type }, { name: 'weight', at: { input: 1 }, type: 'f32' }, { name: 'bias', at: { input: 2 }, type: 'f32' }, { name: 'mean', at: mean, type: 'f32' }, { name: 'spread', at: spread, type: 'f32' }, { name: 'out', at: 'output', type, write: true }],
    body: `  let channel = ${PLACE};
  let rstd = ${rstd};
  out[i] = ${type}((${working}(x[i]) - mean[channel]) * (rstd * weight[channel]) + bias[channel]);`,
    dims: [channels, plane / (wide ? 4 : 1)],
    scalars: shape.scalars,
  }, shape.dtype, (batch * channels * plane) / (wide ? 4 : 1))
}

/** Sums over each plane into scratch 0, then over the batch into one value for each channel. */
function perChannel(shape: KernelShape, sum: string, before: string, tensors: RowOp['tensors'], target: BufferName, finish: (total: string, count: string) => string): Program {
  const [batch, channels, plane] = [dimOf(shape, 0), dimOf(shape, 1), dimOf(shape, 2)]
  const planes = rowSteps({ tensors: [{ name: 'x', from: { input: 0 }, by: 'row' }, ...tensors], before, passes: [{ sums: { part: sum } }], result: { once: 'part', to: { scratch: 0 }, type: 'f32' }, dims: [channels] }, shape, batch * channels, plane, 1)
  const scratchBytes = [4 * batch * channels, ...planes.scratchBytes]
  const folded = new FoldSteps(shape.subgroups, { ...FOLDS['sum']!, finish }, 'f32', batch * plane, target, scratchBytes.length)
  folded.columns({ from: { scratch: 0 }, type: 'f32' }, 1, batch, channels, true)
  // The epsilon of the last step is a scalar beside the count.
  const steps = folded.steps.map((one) => ({ ...one, scalars: [...(one.scalars ?? []), ...shape.scalars] }))
  return { scratchBytes: [...scratchBytes, ...folded.scratchBytes], steps: [...planes.steps, ...steps] }
}

const kernel: Kernel = {
  dtypes: ['f32', 'f16'],
  build: (shape) => {
    if (dimOf(shape, 3) === 0) return normalised(shape, { input: 3 }, { input: 4 }, 'inverseSqrt(spread[channel] + scalar(0u))')
    const [mean, rstd] = [{ output: 1 }, { output: 2 }]
    return joinPrograms([
      perChannel(shape, 'x', '', [], mean, (total, count) => `${total} / ${count}`),
      // Around the mean, so that the variance cannot cancel.
      perChannel(shape, '(x - centre) * (x - centre)', `  let centre = mean_of[row % dim(${ROW_DIMS}u)];`, [{ name: 'mean_of', from: mean, by: 'raw', type: 'f32' }], rstd, (total, count) => `inverseSqrt(${total} / ${count} + scalar(1u))`),
      normalised(shape, mean, rstd, 'spread[channel]'),
    ])
  },
}
export default kernel
