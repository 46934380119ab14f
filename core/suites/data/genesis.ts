import type { PickedOp } from '../../session/sweep-spec'
import type { Suite } from '../types'

const ELEMENTWISE = ['add', 'mul', 'div', 'relu', 'sigmoid', 'tanh', 'gelu', 'silu', 'dropout']

/** One extent of the squares that the suite's size classes are, and how many of them a batch has. */
const at = (sides: readonly number[], batched: boolean, attention: string): PickedOp[] => {
  const elements = [...sides.map((side) => side * side), ...(batched ? [16 * 256 * 256] : [])].join(', ')
  const rows = [...sides.map((side) => `${side}x${side}`), ...(batched ? [`${16 * 256}x256`] : [])].join(', ')
  return [
    ...ELEMENTWISE.map((op) => ({ op, sizes: elements })),
    ...['softmax', 'layer_norm'].map((op) => ({ op, sizes: rows })),
    { op: 'matmul', sizes: [...sides.map((side) => `${side}x${side}x${side}`), ...(batched ? ['256x256x256 batch=16'] : [])].join(', ') },
    { op: 'scaled_dot_product_attention', sizes: attention },
  ]
}

const suite: Suite = {
  id: 'genesis',
  title: 'Genesis benchmarks',
  about: 'How far from PyTorch each operation is: small, medium, large and batched, in f32 and f16.',
  audience: 'Authors of a small deep-learning framework',
  processors: 'gpu-first',
  threads: 'all',
  impls: 'preferred',
  against: 'PyTorch',
  rating: 'genesis',
  full: { ops: at([1024, 2048, 4096], true, '4x16x512x64, 4x32x1024x128, 4x32x2048x128'), dtypes: ['f32', 'f16'], modes: ['hot'], preset: 'standard' },
  quick: { ops: at([512], false, '1x4x128x64'), dtypes: ['f32'], modes: ['hot'], preset: 'quick' },
  sections: ['summary', 'times', 'flags'],
  published: [
    { what: 'matmul 4096, f32', theirs: 'PyTorch 7.3 ms, Genesis 12.1 ms', find: { op: 'matmul', params: { m: 4096, n: 4096, k: 4096 } } },
    { what: 'add 1024x1024, f32', theirs: 'PyTorch 0.019 ms, Genesis 0.111 ms', find: { op: 'add', params: { n: 1048576 } } },
  ],
  publishedOn: 'NVIDIA A800, PyTorch 2.6',
}
export default suite
