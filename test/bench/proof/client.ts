import { fromHostSchema, type FromHost, type HostLink, type ToHost } from '@core/measure/protocol'

/** Questions to a measurement host, one at a time. */
export interface Client {
  /** The answer. Rejects where the host ends, or says nothing, progress included, for longer than its patience. */
  ask(message: ToHost): Promise<FromHost>
  close(): void
}

export function client(link: HostLink, patienceMs: number): Client {
  let heard: (message: FromHost) => void = () => undefined
  let lost: (error: Error) => void = () => undefined
  let stirred: () => void = () => undefined
  link.onMessage((raw) => {
    const message = fromHostSchema.parse(raw)
    if (message.type === 'progress') stirred()
    else if (message.type !== 'ready') heard(message)
  })
  link.onExit((reason) => lost(new Error(`the measurement process ${reason}`)))
  return {
    ask: (message) =>
      new Promise((resolve, reject) => {
        const late = setTimeout(() => reject(new Error(`no answer to "${message.type}" within ${patienceMs / 1000} s`)), patienceMs)
        stirred = () => late.refresh()
        const settle = <T>(done: (value: T) => void) => (value: T) => {
          clearTimeout(late)
          stirred = () => undefined
          done(value)
        }
        heard = settle(resolve)
        lost = settle(reject)
        link.send(message)
      }),
    close: () => link.kill(),
  }
}
