import { EPS } from '../attributes'
import { defineOp } from '../define'
import { images } from '../forms'
import { normalized } from '../tolerance'

type GroupNormParams = { batch: number; channels: number; height: number; width: number; groups: number; eps: number }

/** Elements of one group: neighbouring in memory. */
const groupSize = ({ channels, height, width, groups }: GroupNormParams): number => (channels / groups) * height * width

/**
 * x [batch, channels, height, width] in `groups` groups of neighbouring channels: out = (x - mean) / sqrt(variance + eps) * weight + bias,
 * mean and biased variance of each image's group, weight and bias [channels] (Wu & He 2018; the default of 32 groups is theirs).
 * PyTorch: torch.nn.functional.group_norm(x, groups, weight, bias). dims: [batch, channels, height * width, groups], scalars: [eps].
 * Seven operations per element: add for the mean, subtract, square, add for the variance, scale, weight, bias.
 */
export default defineOp<GroupNormParams>({
  id: 'group_norm',
  family: 'normalization',
  summary: 'Group normalisation over groups of channels',
  torch: 'F.group_norm(x, groups, weight, bias, eps)',
  size: images,
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
