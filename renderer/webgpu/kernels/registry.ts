import type { Dtype } from '@core/case'
import { runs, type Kernel } from './types'

const modules = import.meta.glob<{ default: Kernel }>('./*/kernel.ts', { eager: true })

/** op id -> kernel: every folder here is named for its op. */
export const KERNELS: ReadonlyMap<string, Kernel> = new Map(Object.entries(modules).map(([path, module]) => [path.split('/')[1]!, module.default]))

/** op id -> element types that an adapter with or without `shader-f16` can run. */
export function supportedKernels(shaderF16: boolean, kernels: ReadonlyMap<string, Kernel> = KERNELS): Record<string, Dtype[]> {
  const table: Record<string, Dtype[]> = {}
  for (const [op, kernel] of kernels) table[op] = kernel.dtypes.filter((dtype) => runs(kernel, dtype, shaderF16))
  return table
}
