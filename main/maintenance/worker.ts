import { setNumberLocale } from '@core/units'
import { jobSchema, runJob, type FromJob } from './job'

/** Entry of the process that works on a history file for the window: one job, then it is done. Its argument is the locale of the texts it gives. */

interface ParentPort {
  postMessage(message: FromJob): void
  on(event: 'message', listener: (event: { data: unknown }) => void): unknown
}

/** Progress is shown, not recorded: more often than this it would only keep the window busy. */
const MIN_MS = 80

const { parentPort } = process as { parentPort?: ParentPort }
if (!parentPort) throw new Error('this program works for the window of Opscope and is started by it; run opscope history instead')
setNumberLocale(process.argv[2] ?? '')
const say = (message: FromJob) => parentPort.postMessage(message)

parentPort.on('message', ({ data }) => {
  let step = ''
  let last = 0
  try {
    const value = runJob(jobSchema.parse(data), (progress) => {
      const now = performance.now()
      if (progress.step === step && now - last < MIN_MS) return
      step = progress.step
      last = now
      say({ type: 'progress', ...progress })
    })
    say({ type: 'done', value })
  } catch (error) {
    say({ type: 'failed', message: error instanceof Error ? error.message : String(error) })
  }
})
