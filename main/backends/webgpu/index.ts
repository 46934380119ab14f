import { connect } from '../../measurement/link'
import type { HostKind } from '../../runner/types'
import { openHostWindow } from './window'

/** Starting a page and its GPU process on a busy machine. */
const READY_MS = 30_000

/** WebGPU inside the app: a hidden window of this Electron. */
export const webgpuHostKind = (): HostKind => ({
  id: 'webgpu',
  backends: ['webgpu'],
  start: async () => connect(await openHostWindow(), READY_MS),
})
