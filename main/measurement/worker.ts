import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Backend } from '@core/backend'
import { backendsOf } from '@core/backends'
import { serve } from '@core/measure/serve'
import { nativeBackends } from '../backends/native'
import { pythonBackend } from '../backends/python'
import { missingBackend } from './missing-backend'
import { parentLink } from './parent-link'
import { nodeVerifyPool } from './verify-pool'

/** Entry of the measurement process: native code runs here, and below it in the Pythons it starts, and nowhere else. */

// Ctrl+C in a terminal reaches the whole process group; ending a run in good order is the parent's task.
process.on('SIGINT', () => undefined)

async function backends(): Promise<Backend[]> {
  if (process.env['OPSCOPE_SERVES'] === 'python') return [pythonBackend()]
  const { backends: native, problem } = nativeBackends()
  const list = problem === undefined ? native : backendsOf('native').map((id) => missingBackend(id, problem))
  if (process.env['OPSCOPE_TEST_BACKEND'] === '1') list.push(await testBackend())
  return list
}

/** Loaded only when asked for: no user ever meets it. */
async function testBackend(): Promise<Backend> {
  const { fakeBackend } = await import('../backends/fake')
  return fakeBackend()
}

serve(await backends(), parentLink(), {
  pool: nodeVerifyPool(join(dirname(fileURLToPath(import.meta.url)), 'verify.js')),
  onFault: (reason) => {
    process.stderr.write(`${reason}\n`)
    // After the answer has been written.
    setImmediate(() => process.exit(1))
  },
})
