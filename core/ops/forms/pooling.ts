import type { SizeForm } from './types'

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
