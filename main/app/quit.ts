import { app } from 'electron'
import { printable } from '../printable'
import type { Services } from './services'

/** Longest that quitting waits for measurement processes to go. */
const PATIENCE_MS = 3000

const log = (error: unknown) => process.stderr.write(printable(`opscope: ${String(error)}\n`))

/**
 * Ends hosts before any window closes, because a host that is restarted while windows close would open a new one and
 * keep the app alive; then closes the history. A run in progress keeps what it has, and the next start offers to take
 * it up again.
 */
export function quitCleanly({ runner, history, files }: Pick<Services, 'runner' | 'history' | 'files'>): void {
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
    if (state === 'disposing') return
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
