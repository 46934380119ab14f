import { isResumable } from '@core/session/resumable'
import { usedBy, type Stage } from '../stage'
import { sweepSource } from '../sweep-source'
import { BusyError } from '../types'
import { ceilingKeeper } from './ceilings'

/** Runs the remaining cases of a stopped or interrupted session into the same session. */
export async function resumeSession(stage: Stage, sessionId: string): Promise<{ sessionId: string }> {
  const { history } = stage.deps
  // Marks what a dead process left; what still runs after that runs in another Opscope.
  history.interrupted()
  const { name, planned, failures, results, state } = history.summary(sessionId)
  if (state === 'running') throw new BusyError(`"${name}" is being measured by another Opscope.`)
  const { session, environment } = history.getSession(sessionId)
  const { spec, about } = session
  if (!isResumable(session))
    throw new Error(`"${name}" consists of interleaved measurements, which cannot be resumed; start it anew.`)
  const cases = history.remaining(sessionId)
  if (cases.length === 0) throw new Error(`All ${planned} cases of "${name}" have a result; there is nothing to resume.`)
  const devices = await stage.devices(cases)
  stage.checkJoinable(sessionId, cases, devices)
  stage.tellConcerns(usedBy(cases, devices))
  const settings = session.settings ?? stage.settings(spec?.preset ?? 'standard', spec?.measure)
  history.setState(sessionId, 'running')
  return stage.conductor.launch(
    { sessionId, sessionName: name, source: sweepSource({ cases, settings, repeats: spec?.repeats ?? 1, secondsOf: stage.secondsWith(settings, devices) }), before: { results, failures } },
    // Ceilings of earlier versions say so by having no spec.
    about?.kind === 'ceilings' || !spec ? ceilingKeeper(stage, environment.devices) : {},
  )
}
