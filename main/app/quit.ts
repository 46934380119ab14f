import { app } from 'electron'
import type { Services } from './services'

/** Longest that quitting waits for measurement processes to go. */
const PATIENCE_MS = 3000

/**
 * Ends hosts and closes the history before the process goes. A run in progress keeps what it has; the next start offers
 * to take it up again.
 */
export function quitCleanly({ runner, history }: Pick<Services, 'runner' | 'history'>): void {
  let done = false
  app.on('will-quit', (event) => {
    if (done) return
    event.preventDefault()
    const patience = new Promise<void>((resolve) => setTimeout(resolve, PATIENCE_MS))
    void Promise.race([runner.dispose(), patience])
      .catch((error: unknown) => process.stderr.write(`opscope: ${String(error)}\n`))
      .finally(() => {
        done = true
        history.close()
        app.exit(0)
      })
  })
}
