import { BATCH_ELEMENTS } from '../../analysis/ratings/scales'
import type { PickedOp } from '../../session/sweep-spec'
import type { Suite } from '../types'

const ELEMENTWISE = ['add', 'mul', 'relu', 'exp', 'gelu']
const REDUCTIONS = ['sum', 'mean', 'max']
const BACKWARDS = ['softmax_backward', 'layer_norm_backward', 'rms_norm_backward']

const at = (lengths: string, squares: string, block: string): PickedOp[] => [
  { op: 'copy', sizes: lengths },
  ...ELEMENTWISE.map((op) => ({ op, sizes: lengths })),
  ...REDUCTIONS.map((op) => ({ op, attributes: { axis: ['all', 'last', 'first', 'first_last'] }, sizes: squares })),
  { op: 'sum_to_shape', attributes: { broadcast: ['row', 'column', 'scalar'] }, sizes: squares },
  ...BACKWARDS.map((op) => ({ op, sizes: squares })),
  { op: 'gelu_backward', sizes: lengths },
  { op: 'cross_entropy_backward', sizes: squares },
  { op: 'transformer_block', sizes: block },
]

const suite: Suite = {
  id: 'performance-guide',
  title: 'Genesis performance guide',
  about: 'Share of the bandwidth by size class against a minimum and a target, reductions by axis, and a transformer block by its parts.',
  audience: 'Kernel engineers who optimise for bandwidth',
  processors: 'gpu-first',
  threads: 'all',
  impls: 'preferred',
  libraries: ['torch'],
  against: 'PyTorch',
  rating: 'performance-guide',
  full: { ops: at(`65536, 262144, 4194304, 16777216, ${BATCH_ELEMENTS}, 67108864`, '1024x1024, 4096x4096', '8x512x768x12'), parts: 'both', dtypes: ['f32'], modes: ['cold', 'hot'], preset: 'standard' },
  quick: { ops: at('65536, 1048576', '512x512', '1x64x128x4'), parts: 'both', dtypes: ['f32'], modes: ['hot'], preset: 'quick' },
  sections: ['summary', 'classes', 'axes', 'launches', 'occupancy', 'bounds', 'blocks', 'times', 'flags'],
  published: [
    { what: 'add 64Ki', times: { PyTorch: 19_000, Genesis: 104_000 }, find: { op: 'add', params: { n: 65536 } } },
    { what: 'add 4Mi', times: { PyTorch: 53_000, Genesis: 166_000 }, find: { op: 'add', params: { n: 4194304 } } },
    { what: 'add 16Mi', times: { PyTorch: 147_000, Genesis: 2_334_000 }, find: { op: 'add', params: { n: 16777216 } } },
    { what: 'add 64Mi', times: { PyTorch: 478_000, Genesis: 8_208_000 }, find: { op: 'add', params: { n: 67108864 } } },
  ],
  publishedOn: 'NVIDIA A800 (1555 GB/s), PyTorch 2.6',
  publishedAbout: { classes: 'Published, of the theoretical bandwidth: mean 18.0 % for Genesis and 71.4 % for PyTorch, best 33.1 %, worst 3.1 %.' },
  publishedAxes: { all: 'Genesis 0.14x', last: 'Genesis 0.17x to 0.25x, once 0.008x', first_last: 'Genesis 0.07x to 0.1x, once 0.005x' },
}
export default suite
