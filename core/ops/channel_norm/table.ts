import type { Params } from '../../case'
import { flagAt, imageAt, numberAt, type AtenCall } from '../aten'
import { EPS, withEps } from '../attributes'
import { defineOp, oncePerRead, normalized, runsOfRows, WORTH_A_READ } from '../define'
import { images } from '../forms'
import type { ReadInput } from '../types'

type BatchNormParams = { batch: number; channels: number; height: number; width: number; training: boolean; eps: number }

/** Elements that one channel's statistics are taken over. */
const population = ({ batch, height, width }: BatchNormParams): number => batch * height * width

/** Elements of an image up to which all its channels are read together. */
const SHORT_IMAGE = 4 * WORTH_A_READ

/** The statistics of all channels, of images that are read many at a time. */
function statisticsOfAll(p: BatchNormParams, read: ReadInput): [mean: number, rstd: number][] {
  const { batch, channels, height, width, eps } = p
  const plane = height * width
  return oncePerRead(read, `batch_norm ${batch} ${channels} ${height} ${width} ${eps}`, () => {
    const summed = (term: (x: number, channel: number) => number) => {
      const sums = new Float64Array(channels)
      for (const [first, count] of runsOfRows(batch, channels * plane)) {
        const x = read(0, first * channels * plane, count * channels * plane)
        for (let at = 0; at < x.length; ) for (let channel = 0; channel < channels; channel++) for (let i = 0; i < plane; i++) sums[channel]! += term(x[at++]!, channel)
      }
      return sums
    }
    const means = summed((x) => x).map((sum) => sum / population(p))
    return Array.from(summed((x, channel) => (x - means[channel]!) ** 2), (squares, channel) => [means[channel]!, 1 / Math.sqrt(squares / population(p) + eps)])
  })
}

/** Mean and 1 / sqrt(biased variance + eps) of one channel over batch, height and width. */
function statistics(p: BatchNormParams, read: ReadInput, channel: number): [mean: number, rstd: number] {
  const { batch, channels, height, width, eps } = p
  if (channels * height * width <= SHORT_IMAGE) return statisticsOfAll(p, read)[channel]!
  return oncePerRead(read, `batch_norm ${batch} ${channels} ${height} ${width} ${eps} ${channel}`, () => {
    const plane = height * width
    const values = (image: number) => read(0, (image * channels + channel) * plane, plane)
    let sum = 0
    for (let image = 0; image < batch; image++) {
      const x = values(image)
      for (let i = 0; i < plane; i++) sum += x[i]!
    }
    const mean = sum / population(p)
    let squares = 0
    for (let image = 0; image < batch; image++) {
      const x = values(image)
      for (let i = 0; i < plane; i++) squares += (x[i]! - mean) ** 2
    }
    return [mean, 1 / Math.sqrt(squares / population(p) + eps)]
  })
}

/**
 * For every channel of x [batch, channels, height, width]: out = (x - mean) / sqrt(variance + eps) * weight + bias (Ioffe & Szegedy 2015).
 *
 * training: mean and biased variance of the channel over batch, height and width. Outputs out, mean [channels] and
 *   rstd [channels] = 1 / sqrt(variance + eps), what the backward pass needs; running statistics are not updated, so that
 *   calls do not change what later calls read. PyTorch: torch.native_batch_norm(x, weight, bias, None, None, True, 0, eps).
 * inference: the mean and variance given. Inputs after bias: running_mean, running_var; one output.
 *   PyTorch: F.batch_norm(x, running_mean, running_var, weight, bias, eps=eps).
 *
 * All tensors of one value per channel are f32, as PyTorch keeps them beside 16-bit inputs.
 * dims: [batch, channels, height * width, training as 0 or 1], scalars: [eps].
 * Operations per element: seven in training (add, subtract, square, add, scale, weight, bias), four in inference.
 */
export const batchNorm = defineOp<BatchNormParams>({
  id: 'batch_norm',
  family: 'normalization',
  summary: 'Batch normalisation over batch, height and width',
  torch: 'F.batch_norm(x, running_mean, running_var, weight, bias, training)',
  size: images,
  aten: [
    { names: ['native_batch_norm', 'cudnn_batch_norm', '_native_batch_norm_legit'], params: (call) => withEps(trained(call, flagAt(call, 5)), numberAt(call, 7, 1e-5)) },
    { names: ['_native_batch_norm_legit_no_training'], params: (call) => withEps(trained(call, false), numberAt(call, 6, 1e-5)) },
  ],
  attributes: { training: { title: 'Training', kind: 'flag', default: false }, ...EPS },
  refuse: (p) => (p.training && population(p) === 1 ? 'batch * height * width is 1; training needs more than one value per channel' : undefined),
  dtypes: ['f32', 'f16', 'bf16'],
  tensors: ({ batch, channels, height, width, training }) => {
    const perChannel = { shape: [channels], storage: 'f32' } as const
    return [
      { name: 'x', shape: [batch, channels, height, width], role: 'in', fill: { kind: 'normal', scale: 1 } },
      { name: 'weight', ...perChannel, role: 'in', fill: { kind: 'normal', scale: 1 } },
      { name: 'bias', ...perChannel, role: 'in', fill: { kind: 'normal', scale: 1 } },
      ...(training ? [] : [
        { name: 'running_mean', ...perChannel, role: 'in' as const, fill: { kind: 'normal' as const, scale: 1 } },
        { name: 'running_var', ...perChannel, role: 'in' as const, fill: { kind: 'positive' as const, scale: 1 } },
      ]),
      { name: 'out', shape: [batch, channels, height, width], role: 'out' },
      ...(training ? [{ name: 'mean', ...perChannel, role: 'out' as const }, { name: 'rstd', ...perChannel, role: 'out' as const }] : []),
    ]
  },
  dims: ({ batch, channels, height, width, training }) => [batch, channels, height * width, Number(training)],
  scalars: ({ eps }) => [eps],
  flops: (p) => (p.training ? 7 : 4) * population(p) * p.channels,
  granule: ({ height, width }, output) => (output === 0 ? height * width : 1),
  // A channel alone in its range takes two passes over the whole batch.
  referenceCost: (p, output) => (output > 0 ? 3 * population(p) : p.training ? 3 * p.batch + 3 : 3),
  reference: (p, read, start, count, output) => {
    const out = new Float64Array(count)
    if (output > 0) {
      for (let i = 0; i < count; i++) out[i] = statistics(p, read, start + i)[output - 1]!
      return out
    }
    const { channels, height, width, training, eps } = p
    const plane = height * width
    const weight = read(1, 0, channels)
    const bias = read(2, 0, channels)
    const means = training ? undefined : read(3, 0, channels)
    const variances = training ? undefined : read(4, 0, channels)
    for (let at = 0; at < count; at += plane) {
      const channel = ((start + at) / plane) % channels
      const [mean, rstd] = means && variances ? [means[channel]!, 1 / Math.sqrt(variances[channel]! + eps)] : statistics(p, read, channel)
      const x = read(0, start + at, plane)
      for (let i = 0; i < plane; i++) out[at + i] = (x[i]! - mean) * rstd * weight[channel]! + bias[channel]!
    }
    return out
  },
  tolerance: (p, dtype, output) => {
    if (output === 1) return { relL2: 1e-5, element: { ulp: 4, abs: 1e-5 / Math.sqrt(population(p)) + 1e-7 } }
    if (output === 2) return normalized('f32', population(p))
    // A given variance may be as small as 2^-15: what rounding leaves of x - mean is then large.
    return normalized(dtype, p.training ? population(p) : 1, p.training ? 4 : 16)
  },
  // The mean of independent unit normals.
  outputScale: (p, output) => (output === 1 ? 1 / Math.sqrt(population(p)) : 0),
})

/** The image that a call normalizes per channel. */
function trained(call: AtenCall, training: boolean): Params | undefined {
  const image = imageAt(call, 0)
  return image && { ...image, ...(training ? { training } : {}) }
}

type GroupNormParams = { batch: number; channels: number; height: number; width: number; groups: number; eps: number }

/** Elements of one group: neighbouring in memory. */
const groupSize = ({ channels, height, width, groups }: GroupNormParams): number => (channels / groups) * height * width

/**
 * x [batch, channels, height, width] in `groups` groups of neighbouring channels: out = (x - mean) / sqrt(variance + eps) * weight + bias,
 * mean and biased variance of each image's group, weight and bias [channels] (Wu & He 2018; the default of 32 groups is theirs).
 * PyTorch: torch.nn.functional.group_norm(x, groups, weight, bias). dims: [batch, channels, height * width, groups], scalars: [eps].
 * Seven operations per element: add for the mean, subtract, square, add for the variance, scale, weight, bias.
 */
export const groupNorm = defineOp<GroupNormParams>({
  id: 'group_norm',
  family: 'normalization',
  summary: 'Group normalisation over groups of channels',
  torch: 'F.group_norm(x, groups, weight, bias, eps)',
  size: images,
  aten: [{ names: ['native_group_norm'], params: (call) => { const image = imageAt(call, 0); return withEps(image && { ...image, groups: numberAt(call, 6, 1) }, numberAt(call, 7, 1e-5)) } }],
  attributes: { groups: { title: 'Groups', kind: 'number', default: 32, min: 1, max: 65536, whole: true }, ...EPS },
  refuse: ({ channels, groups }) => (channels % groups === 0 ? undefined : `groups (${groups}) must divide channels (${channels})`),
  dtypes: ['f32', 'f16', 'bf16'],
  tensors: ({ batch, channels, height, width }) => [
    { name: 'x', shape: [batch, channels, height, width], role: 'in', fill: { kind: 'normal', scale: 1 } },
    { name: 'weight', shape: [channels], role: 'in', fill: { kind: 'normal', scale: 1 } },
    { name: 'bias', shape: [channels], role: 'in', fill: { kind: 'normal', scale: 1 } },
    { name: 'out', shape: [batch, channels, height, width], role: 'out' },
  ],
  dims: ({ batch, channels, height, width, groups }) => [batch, channels, height * width, groups],
  scalars: ({ eps }) => [eps],
  flops: ({ batch, channels, height, width }) => 7 * batch * channels * height * width,
  granule: groupSize,
  referenceCost: () => 6,
  reference: (p, read, start, count) => {
    const { channels, height, width, groups, eps } = p
    const weight = read(1, 0, channels)
    const bias = read(2, 0, channels)
    const plane = height * width
    const size = groupSize(p)
    const out = new Float64Array(count)
    for (let at = 0; at < count; at += size) {
      const x = read(0, start + at, size)
      let sum = 0
      for (let i = 0; i < size; i++) sum += x[i]!
      const mean = sum / size
      let squares = 0
      for (let i = 0; i < size; i++) squares += (x[i]! - mean) ** 2
      const scale = 1 / Math.sqrt(squares / size + eps)
      const first = (((start + at) / size) % groups) * (channels / groups)
      for (let i = 0, channel = first; i < size; channel++) {
        for (const end = i + plane; i < end; i++) out[at + i] = (x[i]! - mean) * scale * weight[channel]! + bias[channel]!
      }
    }
    return out
  },
  tolerance: (p, dtype) => normalized(dtype, groupSize(p), 4),
})

export default [batchNorm, groupNorm]
