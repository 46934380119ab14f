import { constants, copyFileSync, existsSync, linkSync, renameSync } from 'node:fs'
import { nameBeside } from '../names'
import { MaintenanceError } from './backup'

/**
 * Puts `prepared` in the place of the closed database `file`, which stays beside it under a new name; returns that
 * name. There is no moment without a history: the present one gets its second name first. Throws MaintenanceError,
 * nothing changed, when another process has the history open.
 */
export function swapIn(file: string, prepared: string): string {
  // The last connection to close takes the log away.
  if (existsSync(`${file}-wal`)) throw new MaintenanceError('Another Opscope, a window or a command, has the history open. Close it and try again. Nothing was changed.')
  const kept = nameBeside(file, 'before-restore')
  try {
    linkSync(file, kept)
  } catch {
    // File systems without links.
    copyFileSync(file, kept, constants.COPYFILE_EXCL)
  }
  renameSync(prepared, file)
  return kept
}
