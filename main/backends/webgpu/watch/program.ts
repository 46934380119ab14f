import { openGpuWatch } from '../../native'
import type { FromWatch } from './protocol'
import { serveWatch } from './serve-watch'

/**
 * Entry of the process that looks at an NVIDIA card while Chromium measures on it. Native code stays out of Electron's
 * main process; this one reads what NVIDIA's management library says, and takes neither a context nor memory on the card.
 */

/** What Electron gives a utilityProcess for talking to main. */
interface ParentPort {
  postMessage(message: FromWatch): void
  on(event: 'message', listener: (event: { data: unknown }) => void): unknown
}

const { parentPort } = process as { parentPort?: ParentPort }
if (!parentPort) throw new Error('this program watches a GPU for Opscope and is started by it; run opscope instead')
const answer = serveWatch(openGpuWatch, (message) => parentPort.postMessage(message))
parentPort.on('message', ({ data }) => answer(data))
