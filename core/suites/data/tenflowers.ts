import type { PickedOp } from '../../session/sweep-spec'
import type { Suite } from '../types'

const at = (lengths: string, cubes: string, sizes: 'small' | 'simd'): PickedOp[] => [
  ...['add', 'mul', 'sub', 'div', 'relu', 'sigmoid', 'tanh', 'exp', 'log', 'sqrt'].map((op) => ({ op, sizes: lengths })),
  { op: 'matmul', sizes: cubes },
  { op: 'conv1d', sizes: sizes === 'simd' ? 'n=1 c=8 l=256 k=8 r=3' : 'n=8 c=64 l=1024 k=64 r=3' },
  { op: 'conv2d', sizes: sizes === 'simd' ? 'n=1 c=8 hw=16 k=8 r=3' : 'n=8 c=64 hw=56 k=64 r=3' },
  { op: 'conv3d', sizes: sizes === 'simd' ? 'n=1 c=4 z=4 hw=8 k=4 r=3' : 'n=1 c=16 z=8 hw=28 k=16 r=3' },
  ...['max_pool2d', 'avg_pool2d'].map((op) => ({ op, sizes: sizes === 'simd' ? 'n=1 c=8 hw=16 r=2' : 'n=8 c=64 hw=56 r=2' })),
  ...['adaptive_avg_pool2d', 'batch_norm', 'group_norm'].map((op) => ({ op, sizes: sizes === 'simd' ? '1x32x8x8' : '8x64x56x56' })),
  { op: 'layer_norm', sizes: sizes === 'simd' ? '64x256' : '4096x768' },
]

const suite: Suite = {
  id: 'tenflowers',
  title: 'TenfloweRS tools',
  about: 'Binary and unary operations, products, convolutions, pooling and norms on CPU and GPU: within twice the time of PyTorch, or 90 % of the bandwidth.',
  audience: 'Maintainers of a framework with a CI gate',
  processors: 'both',
  threads: 'all',
  impls: 'preferred',
  libraries: ['torch'],
  against: 'PyTorch',
  rating: 'tenflowers',
  full: { ops: at('10000, 250000, 1000000', '64, 128, 256, 512, 1024', 'small'), dtypes: ['f32'], modes: ['hot'], preset: 'standard' },
  quick: { ops: at('10000', '64', 'simd'), dtypes: ['f32'], modes: ['hot'], preset: 'quick' },
  sections: ['summary', 'bounds', 'times', 'rates', 'memory', 'flags'],
  published: [],
}
export default suite
