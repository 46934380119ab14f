import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import type { VerifyPool } from '@core/measure/verify/pool'
import { threadPool, type ThreadAnswer } from '@core/measure/verify/threads'

/** More threads than this wait for memory and for the process that reads the outputs. */
const MAX_THREADS = 16

/** Worker threads of this process that compare outputs with their references; they sleep while a case is timed. `program`: path of the built verify-thread.ts. */
export const nodeVerifyPool = (program: string): VerifyPool =>
  threadPool(Math.min(MAX_THREADS, availableParallelism()), ({ answer, fault }) => {
    const worker = new Worker(program)
    // A sleeping thread keeps no process alive; one at work does.
    let asked = 0
    worker.unref()
    worker.on('message', (message: ThreadAnswer) => {
      asked -= 1
      if (asked === 0) worker.unref()
      answer(message)
    })
    worker.on('error', fault)
    worker.on('exit', fault)
    return {
      post: (request) => {
        asked += 1
        worker.ref()
        worker.postMessage(request)
      },
    }
  })
