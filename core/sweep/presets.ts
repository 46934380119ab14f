import type { SizeTexts } from './types'

/** A named choice of sizes for every kind of op. */
export interface SizePreset {
  id: string
  title: string
  /** One line for the menu. */
  summary: string
  sizes: SizeTexts
}

/**
 * The sizes of the benchmark suites users come from. Elements of a vector: the SIMD suite counts in thousands (1K = 1000),
 * the classes small to xlarge in powers of two. Real shapes are those of transformer layers.
 */
export const SIZE_PRESETS: readonly SizePreset[] = [
  { id: 'tour', title: 'Quick tour', summary: 'One size that fits the caches and one that does not', sizes: { vector: '64Ki, 4Mi', matrix: '256, 2048', gemm: '128, 512' } },
  { id: 'simd', title: 'SIMD suite', summary: '100 to 1M elements, where overhead and caches show', sizes: { vector: '100, 1K, 10K, 100K, 1M', matrix: '10, 32x32, 100, 316, 1000', gemm: '16, 32, 64, 128, 256' } },
  { id: 'small', title: 'Small', summary: '64Ki to 256Ki elements, matrices of 256 to 1024', sizes: { vector: '64Ki, 256Ki', matrix: '256..1024', gemm: '64..256' } },
  { id: 'medium', title: 'Medium', summary: '4Mi elements, matrices of 2048', sizes: { vector: '4Mi', matrix: '2048', gemm: '512..1024' } },
  { id: 'large', title: 'Large', summary: '16Mi elements, matrices of 4096', sizes: { vector: '16Mi', matrix: '4096', gemm: '2048..4096' } },
  { id: 'xlarge', title: 'Extra large', summary: '64Mi elements, matrices of 8192', sizes: { vector: '64Mi', matrix: '8192', gemm: '8192' } },
  { id: 'classes', title: 'Small to extra large', summary: 'Every size class in one sweep', sizes: { vector: '64Ki, 256Ki, 4Mi, 16Mi, 64Mi', matrix: '256..8192', gemm: '64..8192' } },
  { id: 'scaling', title: 'Scaling', summary: 'Every power of two, for curves over size', sizes: { vector: '2^10..2^26', matrix: '64..8192', gemm: '32..4096' } },
  {
    id: 'batched',
    title: 'Batched sequences',
    summary: 'Batch 16 to 128 by sequence 256 to 2048 as rows, dimension 64 to 1024',
    sizes: { vector: '2^18..2^28 x4', matrix: '{4096..262144}x{64..1024}', gemm: '{4096..32768 x2}x{64..1024 x4}x{64..1024 x4}' },
  },
  {
    id: 'model',
    title: 'Model layers',
    summary: 'Rows and products as transformer layers have them, tall and wide',
    sizes: { vector: '1Mi, 4Mi, 16Mi', matrix: '4096x4096, 16384x4096, 4096x32768, 512x768, 8192x1024', gemm: '{1,16,128,4096}x4096x4096, 4096x{11008,14336}x4096, 2048x768x3072' },
  },
]

/** The preset with this id, or undefined. */
export const findSizePreset = (id: string): SizePreset | undefined => SIZE_PRESETS.find((preset) => preset.id === id)
