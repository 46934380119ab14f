import { SIZE_FORMS } from '../ops/forms'
import type { SizeTexts } from './types'

/** A named choice of sizes for every form. */
export interface SizePreset {
  id: string
  title: string
  /** One line for the menu. */
  summary: string
  sizes: SizeTexts
}

/**
 * The sizes of the benchmark suites users come from; the texts stand with each form (core/ops/forms). The SIMD suite counts
 * in thousands (1K = 1000), the classes small to xlarge in powers of two.
 */
const TITLES: readonly Omit<SizePreset, 'sizes'>[] = [
  { id: 'tour', title: 'Quick tour', summary: 'One size that fits the caches and one that does not' },
  { id: 'simd', title: 'SIMD suite', summary: '100 to 1M elements, where overhead and caches show' },
  { id: 'small', title: 'Small', summary: '64Ki to 256Ki elements, matrices of 256 to 1024' },
  { id: 'medium', title: 'Medium', summary: '4Mi elements, matrices of 2048' },
  { id: 'large', title: 'Large', summary: '16Mi elements, matrices of 4096' },
  { id: 'xlarge', title: 'Extra large', summary: '64Mi elements, matrices of 8192' },
  { id: 'classes', title: 'Small to extra large', summary: 'Every size class in one sweep' },
  { id: 'scaling', title: 'Scaling', summary: 'Every power of two, for curves over size' },
  { id: 'batched', title: 'Batched sequences', summary: 'Batch 16 to 128 by sequence 256 to 2048 as rows, dimension 64 to 1024' },
  { id: 'model', title: 'Model layers', summary: 'Shapes of transformer layers and of ResNet-50' },
]

export const SIZE_PRESETS: readonly SizePreset[] = TITLES.map((preset) => ({ ...preset, sizes: Object.fromEntries(SIZE_FORMS.map((form) => [form.id, form.presets[preset.id] ?? form.presets['tour'] ?? form.example])) }))

/** The preset with this id, or undefined. */
export const findSizePreset = (id: string): SizePreset | undefined => SIZE_PRESETS.find((preset) => preset.id === id)
