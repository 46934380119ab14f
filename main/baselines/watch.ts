import type { BaselineCheck } from '@core/compare/pinned'
import type { Services } from '../app/services'
import { inSlices } from '../compare/in-slices'
import { checkSteps } from './check-steps'

/**
 * Compares every sweep that finishes with its pinned baseline, and tells. Comparing takes time of the processors, so it waits for the
 * end of a run that has begun meanwhile.
 */
export function watchBaselines({ runner, history, settings, baselines, emit }: Pick<Services, 'runner' | 'history' | 'settings' | 'baselines' | 'emit'>, tell: (check: BaselineCheck) => void): void {
  const waiting: string[] = []
  let going = false

  async function work(): Promise<void> {
    if (going) return
    going = true
    try {
      while (waiting.length > 0 && runner.state().phase === 'idle') {
        const id = waiting.shift()!
        const { compareThreshold: threshold, compareOpThresholds: byOp } = settings.get()
        const { pins } = baselines.read()
        if (pins.length === 0 || history.getSession(id).session.about) continue
        const check = await inSlices(checkSteps(history, pins, id, { threshold, byOp }))
        if (!check) continue
        emit('baselines:changed', baselines.addCheck(check))
        emit('baselines:checked', check)
        tell(check)
      }
    } catch (error) {
      emit('notice', { level: 'warning', message: 'The session could not be compared with its pinned baseline.', detail: error instanceof Error ? error.message : String(error) })
    } finally {
      going = false
    }
  }

  runner.on('ended', ({ sessionId, state, problem }) => {
    if (state === 'done' && problem === undefined) waiting.push(sessionId)
    // The runner is idle again a moment after it has told of the end.
    setImmediate(() => void work())
  })
}
