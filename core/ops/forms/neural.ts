import type { ExtentSpec, SizeForm } from './basic'

/** Padding that keeps the extent where the stride is 1. */
const halfKernel = (kernel: string) => (known: Readonly<Record<string, number>>): number => Math.floor(((known['dilation'] ?? 1) * (known[kernel]! - 1)) / 2)

/** Attention: queries of seqQ, keys and values of seqK tokens; kvHeads below heads is grouped-query attention. */
export const attention: SizeForm = {
  id: 'attention',
  title: 'Attention (batch × heads × sequence × head dim)',
  extents: [
    { name: 'batch', title: 'Batch' },
    { name: 'heads', title: 'Heads' },
    { name: 'seqQ', title: 'Query tokens' },
    { name: 'headDim', title: 'Head dim' },
    { name: 'seqK', title: 'Key tokens', default: ({ seqQ }) => seqQ! },
    { name: 'kvHeads', title: 'Key and value heads', default: ({ heads }) => heads! },
  ],
  short: { b: ['batch'], h: ['heads'], s: ['seqQ'], sk: ['seqK'], hk: ['kvHeads'], d: ['headDim'] },
  positional: 4,
  example: '4x32x2048x128 hk=8',
  batchExtent: 'batch',
  presets: {
    tour: '1x4x128x64, 1x8x512x64', simd: '1x1x32x32, 1x4x64x64', small: '4x16x512x64', medium: '4x32x1024x128', large: '4x32x2048x128', xlarge: '1x32x16384x128',
    classes: '4x16x512x64, 4x32x1024x128, 4x32x2048x128, 1x32x16384x128', scaling: '1x16x{128..8192}x64', batched: '{16..128}x16x{256..2048}x64', model: '4x32x2048x128, 1x32x8192x128, 1x32x2048x128 hk=8, 16x12x512x64',
  },
}

/** Layers of a transformer: batch x seq tokens of dim features. */
export const block: SizeForm = {
  id: 'block',
  title: 'Transformer blocks (batch × sequence × dim × heads)',
  extents: [{ name: 'batch', title: 'Batch' }, { name: 'seq', title: 'Tokens' }, { name: 'dim', title: 'Dim' }, { name: 'heads', title: 'Heads' }, { name: 'mlpRatio', title: 'MLP ratio', default: 4 }],
  short: { b: ['batch'], s: ['seq'], d: ['dim'], h: ['heads'], r: ['mlpRatio'] },
  positional: 4,
  example: '8x512x768x12',
  batchExtent: 'batch',
  presets: {
    tour: '1x64x128x4, 2x128x256x4', simd: '1x16x32x4, 1x32x64x4', small: '4x128x256x4', medium: '8x512x768x12', large: '8x1024x1024x16', xlarge: '16x2048x2048x16',
    classes: '4x128x256x4, 8x512x768x12, 8x1024x1024x16, 16x2048x2048x16', scaling: '{1..64}x512x768x12', batched: '{16..128}x128x512x8', model: '8x197x768x12, 32x512x768x12, 8x1024x1024x16, 1x2048x4096x32',
  },
}

const image: readonly ExtentSpec[] = [{ name: 'batch', title: 'Batch' }, { name: 'channels', title: 'Channels' }, { name: 'height', title: 'Height' }, { name: 'width', title: 'Width', default: ({ height }) => height! }]
const IMAGE_SHORT = { n: ['batch'], c: ['channels'], h: ['height'], w: ['width'], hw: ['height', 'width'] }

/** Images as [batch, channels, height, width]: norms over channels or groups. */
export const images: SizeForm = {
  id: 'images',
  title: 'Images (N×C×H×W)',
  extents: image,
  short: IMAGE_SHORT,
  positional: 4,
  example: '32x256x56x56',
  batchExtent: 'batch',
  presets: {
    tour: '2x32x28x28, 8x64x56x56', simd: '1x32x8x8, 1x64x16x16', small: '8x64x28x28', medium: '32x64x56x56', large: '32x256x56x56', xlarge: '64x256x112x112',
    classes: '8x64x28x28, 32x64x56x56, 32x256x56x56', scaling: '{1..64}x64x56x56', batched: '{16..128}x128x28x28', model: '32x64x112x112, 32x256x56x56, 32x512x28x28, 32x1024x14x14, 32x2048x7x7',
  },
}

const filters: readonly ExtentSpec[] = [{ name: 'stride', title: 'Stride', default: 1 }, { name: 'dilation', title: 'Dilation', default: 1 }, { name: 'groups', title: 'Groups', default: 1 }]
const FILTER_SHORT = { k: ['filters'], s: ['stride'], d: ['dilation'], g: ['groups'] }

/** The distinct convolutions of ResNet-50 (v1.5: the stride is in the 3x3 layers), batch 32. He et al. 2016, table 1. */
const RESNET50 = [
  'c=3 hw=224 k=64 r=7 s=2', 'c=64 hw=56 k=64 r=1', 'c=64 hw=56 k=64 r=3', 'c=64 hw=56 k=256 r=1', 'c=256 hw=56 k=64 r=1',
  'c=256 hw=56 k=128 r=1', 'c=128 hw=56 k=128 r=3 s=2', 'c=128 hw=28 k=512 r=1', 'c=256 hw=56 k=512 r=1 s=2', 'c=512 hw=28 k=128 r=1', 'c=128 hw=28 k=128 r=3',
  'c=512 hw=28 k=256 r=1', 'c=256 hw=28 k=256 r=3 s=2', 'c=256 hw=14 k=1024 r=1', 'c=512 hw=28 k=1024 r=1 s=2', 'c=1024 hw=14 k=256 r=1', 'c=256 hw=14 k=256 r=3',
  'c=1024 hw=14 k=512 r=1', 'c=512 hw=14 k=512 r=3 s=2', 'c=512 hw=7 k=2048 r=1', 'c=1024 hw=14 k=2048 r=1 s=2', 'c=2048 hw=7 k=512 r=1', 'c=512 hw=7 k=512 r=3',
].map((layer) => `n=32 ${layer}`).join(', ')

/** Two-dimensional convolutions; padding that is not written keeps the extent of an odd kernel at stride 1. */
export const conv2d: SizeForm = {
  id: 'conv2d',
  title: 'Convolutions 2D',
  extents: [
    ...image, { name: 'filters', title: 'Filters' }, { name: 'kernelHeight', title: 'Kernel height' }, { name: 'kernelWidth', title: 'Kernel width', default: ({ kernelHeight }) => kernelHeight! },
    ...filters, { name: 'paddingHeight', title: 'Padding rows', min: 0, default: halfKernel('kernelHeight') }, { name: 'paddingWidth', title: 'Padding columns', min: 0, default: halfKernel('kernelWidth') },
  ],
  short: { ...IMAGE_SHORT, ...FILTER_SHORT, r: ['kernelHeight', 'kernelWidth'], p: ['paddingHeight', 'paddingWidth'] },
  positional: 0,
  example: 'n=32 c=64 hw=56 k=64 r=3 s=1',
  batchExtent: 'batch',
  presets: {
    tour: 'n=1 c=16 hw=28 k=16 r=3, n=4 c=64 hw=28 k=64 r=3', simd: 'n=1 c=8 hw=16 k=8 r=3', small: 'n=1 c=64 hw=56 k=64 r=3', medium: 'n=8 c=128 hw=28 k=128 r=3', large: 'n=32 c=64 hw=56 k=64 r=3',
    xlarge: 'n=64 c=128 hw=112 k=128 r=3', classes: 'n=1 c=64 hw=56 k=64 r=3, n=8 c=128 hw=28 k=128 r=3, n=32 c=64 hw=56 k=64 r=3', scaling: 'n={1..64} c=64 hw=56 k=64 r=3', batched: 'n={16..128} c=128 hw=28 k=128 r=3', model: RESNET50,
  },
}

/** One-dimensional convolutions: signals of `length`. */
export const conv1d: SizeForm = {
  id: 'conv1d',
  title: 'Convolutions 1D',
  extents: [
    { name: 'batch', title: 'Batch' }, { name: 'channels', title: 'Channels' }, { name: 'length', title: 'Length' }, { name: 'filters', title: 'Filters' }, { name: 'kernel', title: 'Kernel' },
    ...filters, { name: 'padding', title: 'Padding', min: 0, default: halfKernel('kernel') },
  ],
  short: { n: ['batch'], c: ['channels'], l: ['length'], ...FILTER_SHORT, r: ['kernel'], p: ['padding'] },
  positional: 0,
  example: 'n=16 c=64 l=4096 k=128 r=3',
  batchExtent: 'batch',
  presets: {
    tour: 'n=4 c=32 l=512 k=32 r=3', simd: 'n=1 c=8 l=256 k=8 r=3', small: 'n=1 c=64 l=1024 k=64 r=3', medium: 'n=16 c=64 l=4096 k=128 r=3', large: 'n=16 c=256 l=8192 k=256 r=3', xlarge: 'n=64 c=256 l=16384 k=256 r=3',
    classes: 'n=1 c=64 l=1024 k=64 r=3, n=16 c=64 l=4096 k=128 r=3, n=16 c=256 l=8192 k=256 r=3', scaling: 'n=8 c=64 l={256..16384} k=64 r=3', batched: 'n={16..128} c=64 l=1024 k=64 r=3', model: 'n=8 c=80 l=3000 k=512 r=3, n=8 c=512 l=3000 k=512 r=3 s=2',
  },
}

/** Three-dimensional convolutions: volumes and clips. */
export const conv3d: SizeForm = {
  id: 'conv3d',
  title: 'Convolutions 3D',
  extents: [
    { name: 'batch', title: 'Batch' }, { name: 'channels', title: 'Channels' }, { name: 'depth', title: 'Depth' }, { name: 'height', title: 'Height' }, { name: 'width', title: 'Width', default: ({ height }) => height! },
    { name: 'filters', title: 'Filters' }, { name: 'kernel', title: 'Kernel' }, ...filters, { name: 'padding', title: 'Padding', min: 0, default: halfKernel('kernel') },
  ],
  short: { ...IMAGE_SHORT, ...FILTER_SHORT, z: ['depth'], r: ['kernel'], p: ['padding'] },
  positional: 0,
  example: 'n=2 c=32 z=16 hw=56 k=64 r=3',
  batchExtent: 'batch',
  presets: {
    tour: 'n=1 c=8 z=8 hw=16 k=8 r=3', simd: 'n=1 c=4 z=4 hw=8 k=4 r=3', small: 'n=1 c=16 z=8 hw=28 k=16 r=3', medium: 'n=2 c=32 z=16 hw=56 k=64 r=3', large: 'n=8 c=64 z=16 hw=56 k=64 r=3', xlarge: 'n=8 c=64 z=32 hw=112 k=64 r=3',
    classes: 'n=1 c=16 z=8 hw=28 k=16 r=3, n=2 c=32 z=16 hw=56 k=64 r=3, n=8 c=64 z=16 hw=56 k=64 r=3', scaling: 'n=1 c=32 z={4..64} hw=28 k=32 r=3', batched: 'n={2..16} c=32 z=8 hw=28 k=32 r=3', model: 'n=4 c=3 z=16 hw=112 k=64 r=7 s=2, n=4 c=64 z=16 hw=56 k=64 r=3',
  },
}

/** PyTorch's default: windows side by side. */
const asKernel = { name: 'stride', title: 'Stride', default: ({ kernel }: Readonly<Record<string, number>>) => kernel! }
const padding = { name: 'padding', title: 'Padding', min: 0, default: 0 }

/** Pooling of signals. */
export const pool1d: SizeForm = {
  id: 'pool1d',
  title: 'Pooling 1D',
  extents: [{ name: 'batch', title: 'Batch' }, { name: 'channels', title: 'Channels' }, { name: 'length', title: 'Length' }, { name: 'kernel', title: 'Kernel' }, asKernel, padding],
  short: { n: ['batch'], c: ['channels'], l: ['length'], r: ['kernel'], s: ['stride'], p: ['padding'] },
  positional: 0,
  example: 'n=16 c=64 l=4096 r=3 s=2',
  batchExtent: 'batch',
  presets: {
    tour: 'n=4 c=32 l=512 r=2, n=16 c=64 l=4096 r=3 s=2', simd: 'n=1 c=8 l=256 r=2', small: 'n=4 c=64 l=1024 r=2', medium: 'n=16 c=64 l=4096 r=3 s=2', large: 'n=16 c=256 l=8192 r=3 s=2', xlarge: 'n=64 c=256 l=16384 r=3 s=2',
    classes: 'n=4 c=64 l=1024 r=2, n=16 c=64 l=4096 r=3 s=2, n=16 c=256 l=8192 r=3 s=2', scaling: 'n=8 c=64 l={256..16384} r=2', batched: 'n={16..128} c=64 l=1024 r=2', model: 'n=8 c=512 l=3000 r=2, n=16 c=64 l=4096 r=3 s=2',
  },
}

/** Pooling of images with square windows. */
export const pool2d: SizeForm = {
  id: 'pool2d',
  title: 'Pooling 2D',
  extents: [
    { name: 'batch', title: 'Batch' }, { name: 'channels', title: 'Channels' }, { name: 'height', title: 'Height' }, { name: 'width', title: 'Width', default: ({ height }) => height! }, { name: 'kernel', title: 'Kernel' }, asKernel, padding,
  ],
  short: { n: ['batch'], c: ['channels'], h: ['height'], w: ['width'], hw: ['height', 'width'], r: ['kernel'], s: ['stride'], p: ['padding'] },
  positional: 0,
  example: 'n=32 c=64 hw=112 r=3 s=2 p=1',
  batchExtent: 'batch',
  presets: {
    tour: 'n=1 c=16 hw=28 r=2, n=8 c=64 hw=56 r=3 s=2 p=1', simd: 'n=1 c=8 hw=16 r=2', small: 'n=1 c=64 hw=56 r=2', medium: 'n=8 c=128 hw=56 r=2', large: 'n=32 c=64 hw=112 r=3 s=2 p=1', xlarge: 'n=64 c=128 hw=112 r=3 s=2 p=1',
    classes: 'n=1 c=64 hw=56 r=2, n=8 c=128 hw=56 r=2, n=32 c=64 hw=112 r=3 s=2 p=1', scaling: 'n={1..64} c=64 hw=56 r=2', batched: 'n={16..128} c=128 hw=28 r=2', model: 'n=32 c=64 hw=112 r=3 s=2 p=1, n=32 c=64 hw=224 r=2, n=32 c=128 hw=112 r=2, n=32 c=512 hw=14 r=2',
  },
}
