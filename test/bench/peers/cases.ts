import type { Dtype, Params } from '@core/case'
import { getOp, OPS } from '@core/ops/registry'
import type { Drawn } from '../fuzz/draw'
import { drawCases } from '../fuzz/draw'
import { readCases } from '../fuzz/list'

/** Cases of one table, and with whom they are compared. */
export interface PeerTable {
  title: string
  cases: Drawn[]
  /** Names of implementations; the fastest of them is the one to beat. */
  against: readonly string[]
}

export const PARTS = ['suite', 'shapes', 'products', 'convolutions', 'rows', 'threads', 'small'] as const
export type Part = (typeof PARTS)[number]

const VECTORS = ['add', 'sub', 'mul', 'div', 'scale', 'abs', 'clamp', 'lerp', 'fma', 'dot', 'relu', 'sigmoid', 'tanh', 'gelu', 'silu', 'exp']
const REDUCTIONS = ['sum', 'max', 'min', 'argmax', 'argmin', 'norm_l1', 'norm_l2', 'norm_linf']
const ROWS = ['softmax', 'log_softmax']
/** Operations that NumPy or PyTorch is known to compute slowly: a mean without them stands beside that of all. */
export const EASY = ['argmax', 'argmin', 'norm_l1', 'norm_linf', 'tanh', 'gelu']

const one = (op: string, params: Params, dtype: Dtype = 'f32'): Drawn => ({ op, dtype, params: getOp(op).params.parse(params) })
const vectors = (ops: readonly string[], lengths: readonly number[]): Drawn[] => ops.flatMap((op) => lengths.map((n) => one(op, { n })))

/** The operations of the SIMD suite (core/suites/data/trueno.ts) at these lengths. */
const suite = (lengths: readonly number[]): Drawn[] => [
  ...vectors(VECTORS, lengths),
  ...REDUCTIONS.flatMap((op) => lengths.map((cols) => one(op, { rows: 1, cols, axis: 'all' }))),
  ...ROWS.flatMap((op) => lengths.map((cols) => one(op, { rows: 1, cols }))),
]

const product = (m: number, n: number, k: number, more: Params = {}): Drawn => one('matmul', { m, n, k, ...more })

/** Cubes from 256 up and odd ones, flat, narrow and long ones, transposed, batched. */
const products = (): Drawn[] => [
  ...[256, 257, 320, 384, 501, 512, 640, 768, 1000, 1021, 1024, 1536].map((side) => product(side, side, side)),
  ...([[1000, 999, 1001], [300, 1700, 401], [1700, 300, 401], [4096, 256, 256], [256, 4096, 256], [256, 256, 4096], [384, 768, 3072]] as const).map(([m, n, k]) => product(m, n, k)),
  ...([[64, 4096, 512], [16, 4096, 1024], [4096, 16, 1024], [4096, 64, 512], [8, 1000, 1000], [1000, 8, 1000], [33, 777, 555], [777, 33, 555], [1, 4096, 4096], [4096, 1, 4096]] as const).map(([m, n, k]) => product(m, n, k)),
  ...([{ transA: true }, { transB: true }, { transA: true, transB: true }] as const).flatMap((more) => [product(512, 512, 512, more), product(501, 333, 777, more)]),
  ...([[64, 128, 128, 64], [96, 64, 64, 128], [32, 255, 255, 63], [8, 512, 512, 512], [16, 257, 255, 259], [200, 31, 33, 29], [12, 384, 64, 384]] as const).map(([batch, m, n, k]) => product(m, n, k, { batch })),
]

/** channels, side of the image, filters, kernel, stride: the distinct convolutions of ResNet-50. */
const RESNET50 = [
  [3, 224, 64, 7, 2], [64, 56, 64, 1, 1], [64, 56, 64, 3, 1], [64, 56, 256, 1, 1], [256, 56, 64, 1, 1], [256, 56, 128, 1, 1], [128, 56, 128, 3, 2], [128, 28, 512, 1, 1], [256, 56, 512, 1, 2], [512, 28, 128, 1, 1],
  [128, 28, 128, 3, 1], [512, 28, 256, 1, 1], [256, 28, 256, 3, 2], [256, 14, 1024, 1, 1], [512, 28, 1024, 1, 2], [1024, 14, 256, 1, 1], [256, 14, 256, 3, 1], [1024, 14, 512, 1, 1], [512, 14, 512, 3, 2], [512, 7, 2048, 1, 1],
  [1024, 14, 2048, 1, 2], [2048, 7, 512, 1, 1], [512, 7, 512, 3, 1],
] as const

const convolutions = (batch: number): Drawn[] =>
  RESNET50.map(([channels, side, filters, kernel, stride]) => {
    const padding = (kernel - 1) / 2
    return one('conv2d', { batch, channels, height: side, width: side, filters, kernelHeight: kernel, kernelWidth: kernel, stride, paddingHeight: padding, paddingWidth: padding })
  })

/** Row operations, losses and pooling; the copy of as many elements stands beside those beyond the caches. */
const rows = (): Drawn[] => [
  one('copy', { n: 2 ** 24 }),
  ...['softmax', 'log_softmax'].flatMap((op) => ([[64, 1024], [512, 512], [1024, 1000], [4096, 4096], [8, 100_003], [20_000, 33]] as const).map(([r, cols]) => one(op, { rows: r, cols }))),
  ...(['first', 'last', 'all'] as const).flatMap((axis) => ([[4096, 4096], [1000, 777]] as const).map(([r, cols]) => one('sum', { rows: r, cols, axis }))),
  ...['layer_norm', 'rms_norm'].flatMap((op) => ([[64, 1024], [512, 768], [4096, 4096], [1000, 333]] as const).map(([tokens, dim]) => one(op, { tokens, dim }))),
  ...([[512, 1000], [64, 32_000], [4096, 4096], [1000, 333]] as const).map(([tokens, classes]) => one('cross_entropy', { tokens, classes })),
  ...[10_000, 100_003, 2 ** 20, 2 ** 24].map((n) => one('mse_loss', { n })),
  ...['max_pool2d', 'avg_pool2d'].flatMap((op) => [one(op, { batch: 1, channels: 64, height: 112, width: 112, kernel: 3, stride: 2, padding: 1 }), one(op, { batch: 8, channels: 64, height: 56, width: 56, kernel: 2, stride: 2, padding: 0 }), one(op, { batch: 4, channels: 32, height: 57, width: 61, kernel: 3, stride: 1, padding: 1 })]),
]

/** Operations that compute much for each byte, from 100,000 elements up. */
const computing = (): Drawn[] => [
  ...vectors(['exp', 'tanh', 'gelu', 'sigmoid', 'silu', 'log'], [100_000, 1_000_000]),
  ...(['softmax', 'log_softmax'] as const).map((op) => one(op, { rows: 400, cols: 1000 })),
  one('layer_norm', { tokens: 400, dim: 1000 }),
  one('cross_entropy', { tokens: 400, classes: 1000 }),
  ...[256, 501, 1024].map((side) => product(side, side, side)),
  product(64, 4096, 512), product(4096, 64, 512), product(128, 128, 64, { batch: 64 }),
  ...convolutions(1).filter((_, i) => [2, 3, 9, 15, 22].includes(i)),
]

const small = (): Drawn[] => suite([1, 16, 100, 1000])

/** Operations and dtypes of shapes that are drawn: all that both kernels know. */
export type Kernels = Readonly<Record<string, readonly Dtype[]>>

const SHAPES = { elements: 2 ** 24, flops: 2 ** 33 }

/** `args`: seed=, count=, ops=, dtypes= of drawn shapes; cases=FILE instead of them; batch= of convolutions. */
export async function tableOf(part: Part, args: Readonly<Record<string, string>>, own: Kernels, peers: readonly Kernels[]): Promise<PeerTable> {
  const libraries = ['numpy', 'torch']
  switch (part) {
    case 'suite':
      return { title: 'SIMD suite', cases: suite([10_000, 100_000, 1_000_000]), against: libraries }
    case 'shapes': {
      if (args['cases'] !== undefined) return { title: 'Named shapes', cases: readCases(args['cases']), against: libraries }
      const only = args['ops']?.split(','), types = args['dtypes']?.split(',')
      const from = OPS.filter(({ id, family }) => family !== 'composite' && (only?.includes(id) ?? true)).flatMap((op) => {
        const dtypes = op.dtypes.filter((dtype) => (types?.includes(dtype) ?? true) && own[op.id]?.includes(dtype) && peers.some((kernels) => kernels[op.id]?.includes(dtype)))
        return dtypes.length > 0 ? [{ op, dtypes }] : []
      })
      return { title: 'Drawn shapes', cases: drawCases(Number(args['seed'] ?? 1), Number(args['count'] ?? 120), from, SHAPES), against: libraries }
    }
    case 'products':
      return { title: 'Matrix products', cases: products(), against: ['openblas', 'onednn'] }
    case 'convolutions':
      return { title: 'Convolutions of ResNet-50', cases: convolutions(Number(args['batch'] ?? 1)), against: ['onednn'] }
    case 'rows':
      return { title: 'Rows, losses and pooling', cases: rows(), against: ['torch'] }
    case 'threads':
      return { title: 'Threads', cases: computing(), against: [] }
    case 'small':
      return { title: 'Small cases', cases: small(), against: libraries }
  }
}
