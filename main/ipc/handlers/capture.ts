import { basename } from 'node:path'
import { capturedPicks, capturedShapes } from '@core/sweep/capture'
import type { Services } from '../../app/services'
import { runFile } from '../../backends/python/capture'
import { writeFileAtomic } from '../../write-file'
import { RequestError, type Handlers } from '../answer'

/** Lines of a script's output that the page is told. */
const MAX_OUTPUT = 4000

/** Running a user's script under capture. The page chooses among the Pythons that main has found; the script is chosen in main's dialog. */
export const captureHandlers = ({ dialogs, foundPrograms, runner, emit }: Pick<Services, 'dialogs' | 'foundPrograms' | 'runner' | 'emit'>) => {
  let running: { stop(): void; stopped: boolean } | undefined

  return {
    'capture:run': async ({ python }) => {
      if (!foundPrograms.has(python)) throw new RequestError('refused', `${JSON.stringify(python.slice(0, 200))} is not a Python that Opscope has found. Add it under Devices first.`)
      if (running) throw new RequestError('busy', 'A script is running. Stop it first.')
      if (runner.state().phase !== 'idle') throw new RequestError('busy', 'A run is in progress. A script beside it would disturb its measurements. Stop the run first.')
      const [path] = await dialogs.open('Choose a PyTorch script to run', { name: 'Python scripts', extensions: ['py'] })
      if (path === undefined) return { done: false }
      const script = basename(path)
      const job = runFile(python, path, (calls) => emit('capture:progress', { script, calls }))
      const mine = (running = { stop: () => job.stop(), stopped: false })
      emit('capture:progress', { script, calls: 0 })
      try {
        const { capture, status, output, problem } = await job.done
        const tail = output.slice(-MAX_OUTPUT)
        if (!capture) {
          if (mine.stopped) return { done: false }
          throw new RequestError('failed', problem ?? 'The script could not be watched.', tail)
        }
        const shapes = capturedShapes(capture)
        return { done: true, script, torch: capture.torch, calls: capture.calls, shapes, picks: capturedPicks(shapes), output: tail, stopped: mine.stopped, ...(status === 0 || mine.stopped ? {} : { problem: capture.end?.problem ?? `The script ended with status ${String(status)}.` }) }
      } finally {
        running = undefined
      }
    },
    'capture:save': async (sweep) => {
      const path = await dialogs.save('Save captured sweep', `${sweep.name}.sweep.json`, { name: 'Captured sweeps', extensions: ['json'] })
      if (path === undefined) return { done: false }
      writeFileAtomic(path, [`${JSON.stringify(sweep, undefined, 1)}\n`])
      return { done: true, name: basename(path) }
    },
    'capture:stop': () => {
      if (!running) return { stopped: false }
      running.stopped = true
      running.stop()
      return { stopped: true }
    },
  } satisfies Partial<Handlers>
}
