import { existsSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { app, utilityProcess } from 'electron'
import type { MaintenanceProgress } from '@core/ipc'
import { MaintenanceError } from '../history/maintenance/backup'
import { fromJobSchema, type Job, type JobResult } from './job'

/** Time between looks at a file that grows, in ms. */
const LOOK_MS = 200

/** The built worker beside this bundle, which may lie in a subfolder of shared chunks. */
function workerPath(from = dirname(fileURLToPath(import.meta.url))): string {
  const places = [from, dirname(from)].map((folder) => join(folder, 'maintenance.js'))
  const found = places.find((path) => existsSync(path))
  if (!found) throw new Error(`the program that works on the history is not built: expected ${places[0]}`)
  return found
}

function sizeOf(file: string): number {
  try {
    return statSync(file).size
  } catch {
    // Not there yet, or there no longer.
    return 0
  }
}

/** Does a job in a process of its own, so that the window stays quick. Rejects with MaintenanceError in words. */
export function runApart<K extends Job['kind']>(job: Job & { kind: K }, onProgress: (progress: MaintenanceProgress) => void): Promise<JobResult<K>> {
  return new Promise((resolve, reject) => {
    const child = utilityProcess.fork(workerPath(), [app.getSystemLocale()], { serviceName: 'Opscope history', stdio: 'ignore' })
    let looking: ReturnType<typeof setInterval> | undefined
    const stopLooking = () => clearInterval(looking)
    child.on('message', (message: unknown) => {
      const said = fromJobSchema.parse(message)
      stopLooking()
      if (said.type === 'progress') {
        const { step, share, growing } = said
        onProgress({ step, ...(share === undefined ? {} : { share }) })
        if (growing) looking = setInterval(() => onProgress({ step, share: Math.min(1, sizeOf(growing.file) / growing.bytes) }), LOOK_MS)
        return
      }
      if (said.type === 'done') resolve(said.value as JobResult<K>)
      else reject(new MaintenanceError(said.message))
      child.kill()
    })
    // After the last word this changes nothing.
    child.on('exit', () => {
      stopLooking()
      reject(new MaintenanceError('The process that worked on the history ended before it was done. The history was not changed.'))
    })
    child.postMessage(job)
  })
}
