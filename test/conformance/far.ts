import type { Backend, Device } from '@core/backend'
import type { Dtype, Params } from '@core/case'
import { getOp } from '@core/ops/registry'
import { faultsOf, makeCase } from './faults'

const product = (m: number, n: number, k: number, batch = 1, transB = false) => ({ batch, m, n, k, transA: false, transB })
const of = (op: string, dtype: Dtype, params: Params) => ({ op, dtype, params })
/** Batch, channels, filters, groups, height and width of 3x3 convolutions by Winograd (AVX-512): planes in parts, all of one in one part, groups. */
const WINOGRAD = [[2, 33, 19, 1, 41, 37], [1, 64, 65, 1, 20, 22], [1, 48, 34, 2, 41, 37]] as const
/** Of products whose left operand is stored transposed, copied by groups of rows (AVX-512): the last columns of a panel that lies, rows within lines, both transposed, several products. */
const TURNED = [
  { ...product(300, 144, 200), transA: true },
  { ...product(257, 133, 65), transA: true },
  { ...product(515, 700, 401, 1, true), transA: true },
  { ...product(61, 160, 33, 5), transA: true },
]
/** Of products of few terms: results beyond the caches, whose rows start lines or lie within them, and few rows that meet two panels at once (AVX-512). */
const FEW_TERMS = [
  product(1101, 3001, 17), product(1300, 2560, 12), product(3, 1000, 20), product(5, 1003, 17), product(13, 777, 40), product(20, 517, 30), product(501, 2571, 33, 3),
  { ...product(61, 52_003, 5), transA: true },
  { ...product(2000, 1603, 31, 1, true), transA: true },
]
/** The same from left to right by six rows at a time (AVX-512): every number of vectors of a last panel, rows that remain, operands stored transposed, several products, a slab for some of the columns; and a narrow panel that many rows meet. */
const ALONG_ROWS = [
  product(301, 333, 20), product(1027, 66, 8), product(409, 1025, 11), product(130, 181, 27, 3), product(509, 2001, 97), product(2000, 9, 67),
  { ...product(259, 301, 26), transA: true },
  { ...product(250, 415, 13, 2, true), transA: true },
  product(777, 700, 77, 1, true), product(101, 709, 21), product(53, 1301, 19, 1, true),
  { ...product(2101, 1601, 33), transA: true },
  { ...product(16_001, 101, 37, 1, true), transA: true },
]
/** Of three to five terms, by rows of results: rows that start within lines, operands stored transposed, several products (AVX-512). Right operands whose rows start within lines, which fewer rows pack than meet others: rows about a page apart. */
const ROWS_OF_RESULTS = [
  product(61, 89, 3), product(203, 701, 5), product(101, 1024, 4, 2, true), product(61, 1025, 201),
  { ...product(77, 333, 3, 1, true), transA: true },
]
/** Shapes for which kernels go other ways there: operands a multiple of a page apart, short sums, rows written once, results that are streamed, gradients of norms, convolutions of few outputs, strided windows. */
const FAR_CASES: readonly { op: string; dtype: Dtype; params: Params }[] = [
  ...[product(515, 16, 1024), product(300, 13, 2048), product(17, 2048, 300), product(8, 2048, 129), product(61, 4096, 65), product(128, 128, 64, 5), product(65, 64, 127, 3), product(33, 95, 128, 2, true), product(130, 240, 1024), product(130, 212, 1024, 1, true), product(1000, 1301, 2), ...TURNED, ...FEW_TERMS, ...ALONG_ROWS, ...ROWS_OF_RESULTS].map((params) => of('matmul', 'f32', params)),
  of('layer_norm_backward', 'f32', { tokens: 211, dim: 5003 }),
  of('rms_norm_backward', 'f32', { tokens: 307, dim: 5005 }),
  of('conv2d', 'f32', { batch: 1, channels: 96, filters: 70, height: 61, width: 57, kernelHeight: 3, kernelWidth: 3, stride: 2, paddingHeight: 1, paddingWidth: 1, dilation: 1, groups: 1 }),
  ...WINOGRAD.map(([batch, channels, filters, groups, height, width]) => of('conv2d', 'f32', { batch, channels, filters, height, width, kernelHeight: 3, kernelWidth: 3, stride: 1, paddingHeight: 1, paddingWidth: 1, dilation: 1, groups })),
  ...(['f32', 'f16', 'bf16'] as const).flatMap((dtype) => [
    of('matmul', dtype, product(40, 130, 77)),
    of('matmul', dtype, product(129, 15, 8, 4)),
    of('matmul', dtype, product(2101, 3001, 5)),
    of('embedding', dtype, { rows: 5, dim: 300_007, indices: 11 }),
    of('scatter_add', dtype, { rows: 7, dim: 200_003, indices: 19 }),
    of('exp', dtype, { n: 3_000_001 }),
    of('conv1d', dtype, { batch: 3, channels: 1000, length: 509, filters: 11, kernel: 1, stride: 2, padding: 0, dilation: 1, groups: 1 }),
    of('conv3d', dtype, { batch: 2, channels: 8200, filters: 2, depth: 2, height: 1, width: 2, kernel: 2, stride: 1, padding: 1, dilation: 1, groups: 1 }),
    of('conv2d', dtype, { batch: 3, channels: 64, filters: 1, height: 61, width: 59, kernelHeight: 1, kernelWidth: 1, stride: 1, paddingHeight: 0, paddingWidth: 0, dilation: 1, groups: 1 }),
  ]),
]

/** Our instruction sets: beside them a device lists libraries. */
export const CPU_LEVELS: readonly string[] = ['scalar', 'sse2', 'avx2', 'avx512', 'neon']

/** What is wrong with the results of these cases, on each level of a device whose kernels believe that the last-level cache is far (OPSCOPE_DISTANT_CACHE). */
export async function wrongFarFrom(backend: Backend, device: Device): Promise<string[]> {
  const wrong: string[] = []
  const levels = device.impls.filter(({ id, available }) => available.ok && CPU_LEVELS.includes(id))
  // Levels within a case: its reference is computed once.
  for (const { op, dtype, params } of FAR_CASES)
    for (const impl of levels)
      for (const threads of [1, 3]) {
        const faults = await faultsOf(backend, getOp(op), makeCase(device, impl, getOp(op), params, dtype, threads), 1e7)
        wrong.push(...faults.map((fault) => `${impl.id} ${op} ${dtype} ${JSON.stringify(params)} threads=${threads}: ${fault}`))
      }
  return wrong
}
