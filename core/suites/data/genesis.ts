import type { PickedOp } from '../../session/sweep-spec'
import type { Suite } from '../types'

const ELEMENTWISE = ['add', 'mul', 'div', 'relu', 'sigmoid', 'tanh', 'gelu', 'silu', 'dropout']

/** The operations of one class of sizes. */
const at = (elements: number, rows: string, products: string, attention: string): PickedOp[] => [
  ...ELEMENTWISE.map((op) => ({ op, sizes: String(elements) })),
  ...['softmax', 'layer_norm'].map((op) => ({ op, sizes: rows })),
  { op: 'matmul', sizes: products },
  { op: 'scaled_dot_product_attention', sizes: attention },
]

/** A class of squares; products also with one long side. */
const squares = (side: number, attention: string): PickedOp[] => at(side * side, `${side}x${side}`, `${side}x${side}x${side}, ${side}x${side / 4}x${side}, ${side / 4}x${side}x${side}`, attention)

const CLASSES = {
  small: squares(1024, '4x16x512x64'),
  medium: squares(2048, '4x32x1024x128'),
  large: squares(4096, '4x32x2048x128'),
  batch: at(32 * 1024 * 768, `${32 * 1024}x768`, '256x256x256 batch=64, 1024x1024x1024 batch=16', '32x12x512x64'),
}
/** The operations of all classes, each once with all of its sizes. */
const together = (classes: readonly (readonly PickedOp[])[]): PickedOp[] => classes[0]!.map(({ op }) => ({ op, sizes: classes.map((picks) => picks.find((pick) => pick.op === op)!.sizes).join(', ') }))
const QUICK = { small: squares(512, '1x4x128x64') }

const suite: Suite = {
  id: 'genesis',
  title: 'Genesis benchmarks',
  about: 'Speedup over PyTorch of each operation at small, medium, large and batched sizes, in f32 and f16.',
  audience: 'Authors of a small deep-learning framework',
  processors: 'gpu-first',
  threads: 'all',
  impls: 'preferred',
  libraries: ['torch'],
  against: 'PyTorch',
  rating: 'genesis',
  full: { ops: together(Object.values(CLASSES)), classes: CLASSES, dtypes: ['f32', 'f16'], modes: ['hot'], preset: 'standard' },
  quick: { ops: QUICK.small, classes: QUICK, dtypes: ['f32'], modes: ['hot'], preset: 'quick' },
  sections: ['summary', 'times', 'flags'],
  extremes: true,
  published: [
    { what: 'matmul 4096x4096x4096', times: { PyTorch: 7_300_000, Genesis: 12_100_000 }, find: { op: 'matmul', params: { m: 4096, n: 4096, k: 4096 } } },
    { what: 'add 1Mi', times: { PyTorch: 19_000, Genesis: 111_000 }, find: { op: 'add', params: { n: 1048576 } } },
  ],
  publishedOn: 'NVIDIA A800, PyTorch 2.6',
  publishedAbout: { summary: 'Published for Genesis: matmul 60 % of the speed of PyTorch, element-wise operations 5 to 8 %.' },
}
export default suite
