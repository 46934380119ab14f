import { runSent } from '@core/measure/verify/pool'
import type { ThreadAnswer, ThreadRequest } from '@core/measure/verify/threads'

/** Entry of a worker that compares outputs with their references (verify-pool.ts). */
const answer = (message: ThreadAnswer) => globalThis.postMessage(message)
globalThis.onmessage = ({ data }: MessageEvent<ThreadRequest>) => {
  const { id, problem, task } = data
  try {
    answer({ id, result: runSent({ problem, task }) })
  } catch (error) {
    answer({ id, error: error instanceof Error ? error.message : String(error) })
  }
}
