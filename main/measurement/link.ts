import { fromHostSchema, type HostLink, type ToHost } from '@core/measure/protocol'

/** A process that hosts measurements, whatever started it. Listeners are set once, right after it was made. */
export interface HostProcess<Sent = ToHost> {
  post(message: Sent): void
  kill(): void
  onMessage(listener: (message: unknown) => void): void
  onStderr(listener: (text: string) => void): void
  /** `reason` in plain words. */
  onExit(listener: (reason: string) => void): void
}

/** What is kept of a process's last words, in characters. */
const TAIL = 8000

/**
 * The link to a host process once it has said `ready`. Rejects in plain words when it ends or stays silent before
 * that. An exit reason is one line; what the process wrote to stderr follows on further lines.
 */
export function connect(child: HostProcess, readyMs: number): Promise<HostLink> {
  let tail = ''
  let left: string | undefined
  let hear: (message: unknown) => void = () => undefined
  let leave: (reason: string) => void = () => undefined
  child.onStderr((text) => (tail = (tail + text).slice(-TAIL)))

  return new Promise((resolve, reject) => {
    const late = setTimeout(() => {
      child.kill()
      reject(new Error(`the measurement process was not ready within ${readyMs / 1000} s`))
    }, readyMs)

    const link: HostLink = {
      send: (message) => child.post(message),
      onMessage: (listener) => (hear = listener),
      onExit: (listener) => {
        leave = listener
        if (left !== undefined) listener(left)
      },
      kill: () => child.kill(),
    }
    const onFirst = (message: unknown) => {
      clearTimeout(late)
      const parsed = fromHostSchema.safeParse(message)
      if (parsed.success && parsed.data.type === 'ready') {
        hear = () => undefined
        resolve(link)
      } else {
        child.kill()
        reject(new Error('the measurement process began with something other than "ready"'))
      }
    }
    hear = onFirst
    child.onMessage((message) => hear(message))
    child.onExit((reason) => {
      clearTimeout(late)
      left = tail.trim() === '' ? reason : `${reason}\n${tail.trim()}`
      reject(new Error(`the measurement process ${left}`))
      leave(left)
    })
  })
}
