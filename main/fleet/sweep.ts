import type { Device } from '@core/backend'
import type { BenchmarkCase } from '@core/case'
import { placeOf } from '@core/fleet/place'
import { presetSettings, type MeasureSettings } from '@core/measure/settings'
import type { SweepSpec } from '@core/session/sweep-spec'
import type { Environment } from '@core/session/types'
import type { Settings } from '@core/settings'
import { estimateCaseSeconds, estimateSeconds } from '@core/sweep/estimate'
import type { Plan } from '@core/sweep/plan'
import { readEnvironment } from '../environment'
import type { History } from '../history/types'
import { sessionName } from '../runner/words'
import { devicesOf, QueueError, requeue, stopCases, submit } from './client'
import type { FleetLine } from './connect'
import { clientOf, gather, type GatherOptions } from './gather'
import type { Offer } from './messages'
import { removeWork, type Removed } from './stored'

export interface SweepOrder {
  line: FleetLine
  folder: string
  history: Pick<History, 'createSession' | 'setState' | 'setPlanned' | 'deleteSessions' | 'summary'>
  presets: Settings['presets']
  /** The agents, and what `planSweep` made of the sweep on their devices. */
  found: readonly Offer[]
  spec: SweepSpec
  plan: Plan
  name?: string
  anyOfModel: boolean
}

/** Expected seconds until the machine with the most to do has measured its cases. */
export function fleetSeconds(cases: readonly BenchmarkCase[], settings: MeasureSettings, devices: readonly Device[]): number {
  const hosts = [...new Set(cases.map((c) => placeOf(c.device).host))]
  return Math.max(...hosts.map((host) => estimateSeconds(cases.filter((c) => placeOf(c.device).host === host), settings, [], devices)))
}

/** Creates the session of a sweep and puts its cases into the queue. Returns how many cases there are, for how many devices, and the expected seconds. */
export async function queueSweep({ line, folder, history, presets, found, spec, plan, name, anyOfModel }: SweepOrder): Promise<{ id: string; cases: number; used: number; seconds: number }> {
  const devices = devicesOf(found)
  const { repeats = 1 } = spec
  const settings = presetSettings(spec.preset, presets, spec.measure)
  const cases = Array.from({ length: repeats }, () => plan.cases).flat()
  const used = devices.filter((device) => plan.cases.some((c) => c.backend === device.backend && c.device === device.id))
  const machines = found.filter(({ host }) => used.some((device) => device.host === host)).map(({ host, facts }) => ({ name: host, facts }))
  const environment: Environment = { ...readEnvironment([]), devices: used, machines }
  const { id } = history.createSession({ name: name ?? `${sessionName(spec)} · fleet`.slice(0, 200), about: { kind: 'fleet' }, environment, settings, spec, cases })
  // Nobody here measures it; only while it is queued is it this process's. Another one may have collected all of it by then.
  const isQueued = () => history.summary(id).state === 'running' && history.setState(id, 'stopped')
  try {
    await submit(line, { client: clientOf(folder), session: id, cases, settings, repeats, secondsOf: (c) => estimateCaseSeconds(c, settings, [], devices), devices, anyOfModel })
  } catch (error) {
    isQueued()
    if (!(error instanceof QueueError)) throw error
    // The session is what is queued: it would wait for the rest for ever.
    if (error.queued > 0) history.setPlanned(id, error.queued)
    else history.deleteSessions([id])
    throw new Error(`${error.queued} of ${cases.length} cases could be queued: ${error.message}`, { cause: error })
  }
  isQueued()
  return { id, cases: cases.length, used: used.length, seconds: fleetSeconds(cases, settings, devices) }
}

export interface CancelOrder extends Pick<GatherOptions, 'line' | 'folder' | 'limits' | 'stored' | 'finished' | 'warn' | 'newer'> {
  history: Pick<History, 'setState' | 'summary' | 'addNewResults'>
  id: string
  /** What was taken out of the queue is added here as it goes: `restoreSession` puts it back. */
  removed: Removed[]
}

/**
 * Takes what is left of a session out of the queue, has agents stop the cases of it that they measure, and takes the results that are
 * on the server. The session is then cancelled, or done where all results were there. Throws Error with the reason where nothing can be
 * cancelled; where the server goes away meanwhile the session stays as it is, and another attempt cancels the rest.
 */
export async function cancelSession({ line, folder, history, limits, id, removed, ...told }: CancelOrder): Promise<void> {
  const { name, about, state, results, planned } = history.summary(id)
  if (about?.kind !== 'fleet') throw new Error(`“${name}” was not queued for a fleet`)
  if (state === 'running') throw new Error(`the cases of “${name}” are still being queued; try again once they are`)
  if (results >= planned) throw new Error(`“${name}” has all its results; nothing of it is queued`)
  const session = { client: clientOf(folder), session: id }
  const before = removed.length
  try {
    await removeWork(line, session, removed)
    await stopCases(line, session)
  } catch (error) {
    const count = removed.length - before
    const reason = error instanceof Error ? error.message : String(error)
    if (count === 0) throw new Error(`nothing was cancelled: the NATS server did not answer: ${reason}`, { cause: error })
    throw new Error(`${count === 1 ? '1 case' : `${count} cases`} of “${name}” ${count === 1 ? 'was' : 'were'} taken out of the queue, then the NATS server was lost: ${reason}. Cancel again to take out the rest`, { cause: error })
  }
  history.setState(id, 'cancelled')
  await gather({ history, folder, line, limits, sessions: [id], signal: new AbortController().signal, untilEmpty: true, ...told })
}

/** Puts back what was taken out of the queue: the same work, so that a result that was under way counts once. */
export async function restoreSession({ line, history, id, removed }: Pick<CancelOrder, 'line' | 'history' | 'id' | 'removed'>): Promise<void> {
  // Results of what is queued are to be taken, even where not all of it can be.
  history.setState(id, 'stopped')
  await requeue(line, removed)
}
