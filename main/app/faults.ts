import { printable } from '../printable'
import type { Services } from './services'

const describe = (error: unknown) => (error instanceof Error ? (error.stack ?? error.message) : String(error))

/** A fault of ours in main is told and logged, and does not take the window and a run in progress with it. */
export function surviveFaults({ emit }: Pick<Services, 'emit'>): void {
  const tell = (error: unknown) => {
    const detail = describe(error)
    process.stderr.write(printable(`opscope: ${detail}\n`))
    emit('notice', { level: 'error', message: 'Something went wrong inside Opscope. Results so far are kept; if it goes on, restart the app.', detail: detail.slice(0, 4000) })
  }
  process.on('uncaughtException', tell)
  process.on('unhandledRejection', tell)
}
