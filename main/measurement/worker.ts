import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Backend } from '@core/backend'
import { backendsOf } from '@core/backends'
import type { FromHost } from '@core/measure/protocol'
import { serve, type ServeLink } from '@core/measure/serve'
import { nativeBackends } from '../backends/native'
import { pythonBackend } from '../backends/python'
import { missingBackend } from './missing'
import { nodeVerifyPool } from './verify-pool'

/** Entry of the measurement process: native code runs here, and below it in the Pythons it starts, and nowhere else. */

// Ctrl+C in a terminal reaches the whole process group; ending a run in good order is the parent's task.
process.on('SIGINT', () => undefined)

async function backends(): Promise<Backend[]> {
  if (process.env['OPSCOPE_SERVES'] === 'python') return [pythonBackend()]
  const { backends: native, problem } = nativeBackends()
  const list = problem === undefined ? native : backendsOf('native').map((id) => missingBackend(id, problem))
  return process.env['OPSCOPE_TEST_BACKEND'] === '1' ? withTestBackend(list) : list
}

/** Loaded only when asked for: no user ever meets it. */
async function withTestBackend(list: readonly Backend[]): Promise<Backend[]> {
  const { fakeBackend } = await import('../backends/fake')
  const { onNoisyHost } = await import('../backends/fake/noisy-host')
  const noisy = process.env['OPSCOPE_TEST_NOISE'] === '1'
  return [...list.map((backend) => (noisy && backend.id === 'cpu' ? onNoisyHost(backend) : backend)), fakeBackend()]
}

serve(await backends(), parentLink(), {
  pool: nodeVerifyPool(join(dirname(fileURLToPath(import.meta.url)), 'verify.js')),
  onFault: (reason) => {
    process.stderr.write(`${reason}\n`)
    // After the answer has been written.
    setImmediate(() => process.exit(1))
  },
})

/** What Electron gives a utilityProcess for talking to main. */
interface ParentPort {
  postMessage(message: unknown): void
  on(event: 'message', listener: (event: { data: unknown }) => void): unknown
}

/** The worker's end of the link to whoever started it: Electron's main, or a Node parent. Throws when there is neither. */
function parentLink(): ServeLink {
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
