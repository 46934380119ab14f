import type { FromHost } from '@core/measure/protocol'
import type { ServeLink } from '@core/measure/serve'

/** What Electron gives a utilityProcess for talking to main. */
interface ParentPort {
  postMessage(message: unknown): void
  on(event: 'message', listener: (event: { data: unknown }) => void): unknown
}

/** The worker's end of the link to whoever started it: Electron's main, or a Node parent. Throws when there is neither. */
export function parentLink(): ServeLink {
  const { parentPort } = process as { parentPort?: ParentPort }
  if (parentPort) {
    return {
      send: (message) => parentPort.postMessage(message),
      onMessage: (listener) => void parentPort.on('message', ({ data }) => listener(data)),
    }
  }
  const send = process.send?.bind(process)
  if (!send) throw new Error('this program measures for Opscope and is started by it; run opscope instead')
  // A parent that died without a word leaves nobody to measure for.
  process.on('disconnect', () => process.exit(0))
  return {
    send: (message: FromHost) => void send(message, undefined, undefined, () => undefined),
    onMessage: (listener) => void process.on('message', listener),
  }
}
