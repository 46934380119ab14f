import type { MessagePortMain } from 'electron'
import { openEnergyMeter, openGpuWatch } from '../../native'
import { openSchema, attempt, serveWatch, type Opened } from './serve-watch'

/**
 * Entry of the process that looks at an NVIDIA card while Chromium measures on it. Native code stays out of Electron's
 * main process; this one reads what NVIDIA's management library says, and takes neither a context nor memory on the card.
 */

/** What Electron gives a utilityProcess for talking to main. */
interface ParentPort {
  postMessage(message: Opened): void
  on(event: 'message', listener: (event: { data: unknown; ports: MessagePortMain[] }) => void): unknown
}

const { parentPort } = process as { parentPort?: ParentPort }
if (!parentPort) throw new Error('this program watches a GPU for Opscope and is started by it; run opscope instead')
parentPort.on('message', ({ data, ports: [page] }) => {
  const request = openSchema.safeParse(data)
  if (!request.success || !page) return
  const watch = attempt(() => openGpuWatch(request.data.name, request.data.worker))
  if (watch) {
    const hear = serveWatch(watch, (answer) => page.postMessage(answer), () => openEnergyMeter({ gpu: request.data.name }, false))
    page.on('message', (event) => hear(event.data))
    page.start()
  }
  parentPort.postMessage({ type: 'opened', ok: watch !== undefined })
})
