import type { PickedOp } from '../../session/sweep-spec'
import type { Suite } from '../types'

const VECTORS = ['add', 'sub', 'mul', 'div', 'scale', 'abs', 'clamp', 'lerp', 'fma', 'dot', 'relu', 'sigmoid', 'tanh', 'gelu', 'silu', 'exp']
const REDUCTIONS = ['sum', 'max', 'min', 'argmax', 'argmin', 'norm_l1', 'norm_l2', 'norm_linf']

/** The suite's operations at these lengths, rows and reductions as one row of them. */
const at = (lengths: string): PickedOp[] => [
  ...VECTORS.map((op) => ({ op, sizes: lengths })),
  ...REDUCTIONS.map((op) => ({ op, attributes: { axis: ['all'] }, sizes: `1x{${lengths}}` })),
  ...['softmax', 'log_softmax'].map((op) => ({ op, sizes: `1x{${lengths}}` })),
]

const suite: Suite = {
  id: 'trueno',
  title: 'Trueno SIMD suite',
  about: 'Which SIMD level wins where, on one thread, and by how much over NumPy and PyTorch.',
  audience: 'Authors of SIMD libraries',
  processors: 'cpu',
  threads: 'one',
  impls: 'all',
  libraries: ['numpy', 'torch'],
  against: 'NumPy',
  rating: 'trueno',
  full: { ops: at('100, 1000, 10000, 100000, 1000000'), dtypes: ['f32'], modes: ['hot'], preset: 'standard' },
  quick: { ops: at('100, 10000'), dtypes: ['f32'], modes: ['hot'], preset: 'quick' },
  sections: ['summary', 'crossovers', 'times', 'flags'],
  published: [
    { what: 'add 100', times: { scalar: 57.8, SSE2: 66.8, AVX2: 67.7, 'AVX-512': 73.3 }, find: { op: 'add', params: { n: 100 } } },
    { what: 'add 1000', times: { scalar: 193.6, SSE2: 159.6, AVX2: 144.2, 'AVX-512': 166.3 }, find: { op: 'add', params: { n: 1000 } } },
    { what: 'add 10000', times: { scalar: 2000, SSE2: 1650, AVX2: 1400, 'AVX-512': 1600 }, find: { op: 'add', params: { n: 10000 } } },
    { what: 'argmax 1M', claim: 'NumPy 9 to 14x faster than PyTorch', find: { op: 'argmax', params: { cols: 1000000 } } },
    { what: 'argmin 1M', claim: 'NumPy 9 to 14x faster than PyTorch', find: { op: 'argmin', params: { cols: 1000000 } } },
  ],
  publishedAbout: { crossovers: 'Published for add: SIMD starts to win at 200 to 500 elements.' },
}
export default suite
