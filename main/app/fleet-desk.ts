import { app } from 'electron'
import type { DeskOptions, FleetDesk } from '../fleet/desk'
import type { Emit } from '../ipc/register'

/** The client of a fleet, loaded and made at its first use, and closed with the app. */
export function fleetDesk({ emit, ...options }: Pick<DeskOptions, 'history' | 'folder' | 'settings'> & { emit: Emit }): () => Promise<FleetDesk> {
  let desk: Promise<FleetDesk> | undefined
  app.on('before-quit', () => void desk?.then((made) => made.close()))
  return () =>
    (desk ??= import('../fleet/desk').then(
      ({ FleetDesk }) =>
        new FleetDesk({
          ...options,
          changed: (state) => emit('fleet:state', state),
          stored: (ids) => emit('sessions:changed', { ids: [...ids] }),
          notice: (notice) => emit('notice', notice),
        }),
    ))
}
