import { app } from 'electron'
import { exportParts } from '@core/formats/registry'
import { formatInteger, withoutLocale } from '@core/units'
import { printable } from '../printable'
import { writeFileAtomic } from '../write-file'
import type { Fault } from './crash/report'
import type { Leave } from './leave'
import type { Services } from './services'

const describe = (error: unknown) => (error instanceof Error ? (error.stack ?? error.message) : String(error))

/** A fault of ours in main is reported and logged, and does not take the window and a run in progress with it. */
export function surviveFaults(report: (fault: Fault) => void): void {
  const tell = (error: unknown) => {
    process.stderr.write(printable(`opscope: ${describe(error)}\n`))
    report({ what: 'An error in the main process', error })
  }
  process.on('uncaughtException', tell)
  process.on('unhandledRejection', tell)
}

/** Offers to save the results of a run that could not be stored, until they are saved or the user gives them up. */
export function offerRescue({ runner, dialogs }: Pick<Services, 'runner' | 'dialogs'>): void {
  async function offer(problem: string, unsaved: number): Promise<void> {
    const file = runner.unsaved()
    if (!file) return
    const message = unsaved === 1 ? 'One result could not be stored in the history' : `${formatInteger(unsaved)} results could not be stored in the history`
    let detail = problem
    while (await dialogs.confirm({ message, detail: `${detail}\n\nThe whole session can be saved as a file and imported later. Without that these results are lost.`, action: 'Save as a file…' })) {
      const path = await dialogs.save('Save the session', `${file.session.name}.opscope.json`, { name: 'Opscope session', extensions: ['json'] })
      if (path === undefined) continue
      try {
        return withoutLocale(() => writeFileAtomic(path, exportParts('json', file)))
      } catch (error) {
        detail = error instanceof Error ? error.message : String(error)
      }
    }
  }
  runner.on('ended', ({ problem, unsaved }) => {
    if (problem !== undefined && unsaved !== undefined) void offer(problem, unsaved)
  })
}

/** Longest that quitting waits for measurement processes to go. */
const PATIENCE_MS = 3000

const log = (error: unknown) => process.stderr.write(printable(`opscope: ${String(error)}\n`))

/**
 * Ends hosts before any window closes, because a host that is restarted while windows close would open a new one and
 * keep the app alive; then closes the history. The user is asked about a run in progress first (leave.ts); stopped, it keeps
 * what it has, and the next start offers to resume it.
 */
export function quitCleanly({ runner, history, files }: Pick<Services, 'runner' | 'history' | 'files'>, mayLeave: Leave): void {
  let state: 'open' | 'disposing' | 'disposed' = 'open'

  function leave(): void {
    try {
      history.close()
    } catch (error) {
      log(error)
    }
    app.exit(0)
  }

  app.on('before-quit', (event) => {
    if (state === 'disposed') return
    event.preventDefault()
    if (state === 'disposing' || !mayLeave.allowed()) return
    state = 'disposing'
    const patience = new Promise<void>((resolve) => setTimeout(resolve, PATIENCE_MS))
    void Promise.race([Promise.all([runner.dispose(), files.cancel()]), patience])
      .catch(log)
      .finally(() => {
        state = 'disposed'
        app.quit()
        // A host that would not go may still hold a window.
        setTimeout(leave, PATIENCE_MS)
      })
  })
  app.on('will-quit', (event) => {
    event.preventDefault()
    leave()
  })
}
