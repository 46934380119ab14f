import { parentPort } from 'node:worker_threads'
import { runSent } from '@core/measure/verify/pool'
import type { ThreadAnswer, ThreadRequest } from '@core/measure/verify/threads'

/** Entry of a thread that compares outputs with their references (verify-pool.ts). */
const port = parentPort
if (!port) throw new Error('this program verifies outputs for the measurement process and is started by it')
port.on('message', ({ id, problem, task }: ThreadRequest) => {
  const answer = (message: ThreadAnswer) => port.postMessage(message)
  try {
    answer({ id, result: runSent({ problem, task }) })
  } catch (error) {
    answer({ id, error: error instanceof Error ? error.message : String(error) })
  }
})
