import type { Availability } from '@core/backend'
import type { Dtype } from '@core/case'
import type { Library } from '../libraries/types'
import { RED_TEAM } from '../red-team/kernels'
import { programWithoutShaderF16 } from '../wgsl/f16-storage'
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

/** A way to compute ops on the device, as `impl` of a case names it. */
export interface Implementation {
  id: string
  title: string
  /** Whether it is measured where nobody chose, on an adapter with or without `shader-f16`. */
  preferred: (shaderF16: boolean) => boolean
  /** op id -> kernel; of a library the element types alone. */
  kernels: ReadonlyMap<string, Kernel>
  /** Absent: usable wherever the device is. */
  available?: Availability
  /** The library that computes, where it is none of our kernels. */
  library?: LibraryPlace
}

/** A library, and where its packages are: the URL of the folder of a package. */
export interface LibraryPlace {
  library: Library
  address: (name: string) => string
}

const WGSL: Implementation = { id: 'wgsl', title: 'WGSL kernels', preferred: () => true, kernels: KERNELS }

/** The f16 kernels for every adapter: the same plans, with two halves in each u32. */
const F16_EMULATED: Implementation = {
  id: 'wgsl-f16-emulated',
  title: 'WGSL kernels, f16 storage in u32',
  preferred: (shaderF16) => !shaderF16,
  kernels: new Map([...KERNELS].filter(([, { dtypes, anyF16 }]) => dtypes.includes('f16') && !anyF16).map(([op, kernel]) => [op, { dtypes: ['f16'], anyF16: true, ...(kernel.elementwise ? { elementwise: true } : {}), build: (shape) => programWithoutShaderF16(kernel.build({ ...shape, matrices: undefined })) }])),
}

/** What the backend offers, with or without the kernels that cheat. */
export const implementationsOf = (redTeam: boolean): readonly Implementation[] =>
  redTeam ? [WGSL, F16_EMULATED, ...RED_TEAM.map(({ id, title, kernel }) => ({ id, title, preferred: () => false, kernels: new Map([['add', kernel]]) }))] : [WGSL, F16_EMULATED]
