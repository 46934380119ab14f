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
import { devicesOf, QueueError, submit } from './client'
import type { FleetLine } from './connect'
import { clientOf } from './gather'
import type { Offer } from './messages'

export interface SweepOrder {
  line: FleetLine
  folder: string
  history: Pick<History, 'createSession' | 'setState' | 'setPlanned' | 'deleteSessions'>
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
  // Nobody here measures it, so that no start of Opscope takes it for one whose process died.
  history.setState(id, 'stopped')
  try {
    await submit(line, { client: clientOf(folder), session: id, cases, settings, repeats, secondsOf: (c) => estimateCaseSeconds(c, settings, [], devices), devices, anyOfModel })
  } catch (error) {
    if (!(error instanceof QueueError)) throw error
    // The session is what is queued: it would wait for the rest for ever.
    if (error.queued > 0) history.setPlanned(id, error.queued)
    else history.deleteSessions([id])
    throw new Error(`${error.queued} of ${cases.length} cases could be queued: ${error.message}`, { cause: error })
  }
  return { id, cases: cases.length, used: used.length, seconds: fleetSeconds(cases, settings, devices) }
}
