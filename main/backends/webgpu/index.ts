import { backendsOf } from '@core/backends'
import { exclusiveLinks } from '../../exclusive'
import { connect } from '../../measurement/link'
import type { HostKind } from '../../runner/types'
import { openHostWindow } from './window'

/** Starting a page and its GPU process on a busy machine. */
const READY_MS = 30_000

/** Longest that the start of a host is put off. */
const PATIENCE_MS = 3000

/**
 * WebGPU inside the app: a hidden window of this Electron. It is opened once `after` has resolved, because a page and
 * a GPU process that start at the same time as the visible window keep the user waiting for that.
 */
export const webgpuHostKind = (after: Promise<void> = Promise.resolve(), exclusively = exclusiveLinks()): HostKind => ({
  id: 'webgpu',
  backends: backendsOf('webgpu'),
  start: async () => {
    await Promise.race([after, new Promise<void>((resolve) => setTimeout(resolve, PATIENCE_MS))])
    return exclusively(await connect(await openHostWindow(), READY_MS))
  },
})
