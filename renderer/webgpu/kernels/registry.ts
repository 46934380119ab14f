import type { Dtype } from '@core/case'
import { runs, type Kernel } from './types'

const single = import.meta.glob<{ default: Kernel }>('./*/kernel.ts', { eager: true })
const tables = import.meta.glob<{ default: Readonly<Record<string, Kernel>> }>('./*/table.ts', { eager: true })

/** op id -> kernel: a folder with a kernel.ts is named for its op; a table.ts holds those of a family. */
export const KERNELS: ReadonlyMap<string, Kernel> = new Map([
  ...Object.entries(single).map(([path, module]) => [path.split('/')[1]!, module.default] as const),
  ...Object.values(tables).flatMap((module) => Object.entries(module.default)),
])

/** op id -> element types that an adapter with or without `shader-f16` can run. */
export function supportedKernels(shaderF16: boolean, kernels: ReadonlyMap<string, Kernel> = KERNELS): Record<string, Dtype[]> {
  const table: Record<string, Dtype[]> = {}
  for (const [op, kernel] of kernels) table[op] = kernel.dtypes.filter((dtype) => runs(kernel, dtype, shaderF16))
  return table
}
