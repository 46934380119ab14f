import { KERNELS } from './kernels/registry'
import type { Kernel } from './kernels/types'
import { RED_TEAM } from './red-team/kernels'

/** A way to compute ops on the device, as `impl` of a case names it. */
export interface Implementation {
  id: string
  title: string
  preferred: boolean
  /** op id -> kernel. */
  kernels: ReadonlyMap<string, Kernel>
}

const WGSL: Implementation = { id: 'wgsl', title: 'WGSL kernels', preferred: true, kernels: KERNELS }

/** What the backend offers, with or without the kernels that cheat. */
export const implementationsOf = (redTeam: boolean): readonly Implementation[] =>
  redTeam ? [WGSL, ...RED_TEAM.map(({ id, title, kernel }) => ({ id, title, preferred: false, kernels: new Map([['add', kernel]]) }))] : [WGSL]
