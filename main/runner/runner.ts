import type { Device } from '@core/backend'
import type { BenchmarkCase } from '@core/case'
import type { RunState } from '@core/ipc'
import { PRESETS, type MeasureSettings } from '@core/measure/settings'
import type { Result } from '@core/result'
import { blockOf } from '@core/session/rows'
import type { Ceiling, Environment } from '@core/session/types'
import type { SweepSpec } from '@core/sweep/types'
import type { History } from '../history/types'
import { Coalescer, Emitter } from './events'
import { Fleet } from './fleet'
import { Job, type JobSpec } from './job'
import { LIMITS, type Limits } from './limits'
import { BusyError, type HostKind, type Runner, type RunnerEvents } from './types'
import { listed, sessionName } from './words'

/** What the runner needs of core's plan of a sweep. */
export interface SweepPlan {
  cases: readonly BenchmarkCase[]
  /** Mistakes in the picks, and devices that cannot be had. */
  problems: readonly string[]
  skipped: readonly { reason: string; count: number }[]
}

/** The pure decisions of a run; core's in the product (index.ts). */
export interface Planner {
  /** The cases of a sweep, in the order to measure, and what stands in the way of others. */
  plan(spec: SweepSpec, devices: readonly Device[]): SweepPlan
  /** Expected wall time of a case in seconds. */
  seconds(c: BenchmarkCase, settings: MeasureSettings, ceilings: readonly Ceiling[], devices: readonly Device[]): number
  /** The cases that measure a device's limits, and what a result of one says, given the ceilings kept so far. */
  ceilingCases(device: Device): readonly BenchmarkCase[]
  ceilingsOf(device: Device, result: Result, known: readonly Ceiling[]): readonly Ceiling[]
}

export interface RunnerDeps {
  history: History
  hostKinds: readonly HostKind[]
  planner: Planner
  environment(devices: readonly Device[]): Environment
  limits?: Partial<Limits>
}

const IDLE: RunState = { phase: 'idle', done: 0, total: 0, failures: 0 }

interface Plan {
  name: string
  settings: MeasureSettings
  cases: readonly BenchmarkCase[]
  devices: readonly Device[]
  spec?: SweepSpec
}

/** Why a plan came to nothing, in a sentence. */
function nothingToMeasure({ problems, skipped }: SweepPlan): string {
  const reasons = problems.length > 0 ? problems : skipped.map(({ reason, count }) => (count === 1 ? reason : `${reason} (${count} cases)`))
  return `Nothing can be measured: ${reasons.length > 0 ? listed(reasons, 4, '; ') : 'nothing is picked'}.`
}

/** The one runner of a process; see Runner for what it promises. */
export function createRunnerWith(deps: RunnerDeps): Runner {
  const limits = { ...LIMITS, ...deps.limits }
  const { history, planner } = deps
  const emitter = new Emitter<RunnerEvents>()
  const fleet = new Fleet(deps.hostKinds, limits)
  let starting = false
  let job: Job | undefined
  let running: Promise<void> | undefined

  const fresh: Result[] = []
  let firstFresh = 0
  const state = (): RunState => job?.view() ?? (starting ? { ...IDLE, phase: 'starting' } : IDLE)
  const states = new Coalescer(limits.eventMs, () => emitter.emit('state', state()))
  const results = new Coalescer(limits.eventMs, () => {
    if (!job || fresh.length === 0) return
    const block = blockOf(fresh, firstFresh)
    firstFresh += fresh.length
    fresh.length = 0
    emitter.emit('results', { sessionId: job.spec.sessionId, block })
  })

  /** Runs `prepare` as the one run being started. */
  async function begin<T>(prepare: () => Promise<T>): Promise<T> {
    if (starting || job) throw new BusyError('A run is in progress; stop it first.')
    starting = true
    states.request()
    try {
      return await prepare()
    } finally {
      starting = false
      states.request()
    }
  }

  function launch(spec: Omit<JobSpec, 'estimates'>, onResult: (result: Result) => void = () => undefined): { sessionId: string } {
    firstFresh = spec.before.results
    const ceilings = history.ceilings()
    const devices = fleet.known()
    const estimates = spec.cases.map((c) => planner.seconds(c, spec.settings, ceilings, devices))
    const started = (job = new Job({ ...spec, estimates }, {
      history,
      hostOf: fleet.hostOf,
      changed: () => states.request(),
      stored: (result) => {
        fresh.push(result)
        onResult(result)
        results.request()
      },
    }))
    running = conduct(started)
    return { sessionId: spec.sessionId }
  }

  async function conduct(started: Job): Promise<void> {
    const { sessionId } = started.spec
    let end: RunnerEvents['ended'] = { sessionId, state: 'stopped', failures: started.view().failures }
    try {
      end = { sessionId, ...(await started.run()) }
      history.setState(sessionId, end.state)
    } catch (error) {
      const detail = error instanceof Error ? error.message : String(error)
      try {
        history.setState(sessionId, 'stopped')
      } catch {
        // The same trouble again; the next start finds the session interrupted.
      }
      emitter.emit('notice', { level: 'error', message: 'The run ended because its results could not be stored. What was stored before is kept.', detail })
    }
    results.flush()
    job = undefined
    states.flush()
    emitter.emit('ended', end)
  }

  /** Keeps what results say about the limits of these devices. */
  const ceilingKeeper = (devices: readonly Device[]) => (result: Result) => {
    const device = devices.find(({ backend, id }) => backend === result.case.backend && id === result.case.device)
    const found = device ? planner.ceilingsOf(device, result, history.ceilings()) : []
    if (found.length === 0) return
    for (const ceiling of found) history.putCeiling(ceiling)
    emitter.emit('ceilings', history.ceilings())
  }

  function create({ name, settings, cases, devices, spec }: Plan, onResult?: (result: Result) => void): { sessionId: string } {
    const used = new Set(cases.map((c) => c.device))
    const environment = deps.environment(devices.filter((device) => used.has(device.id)))
    const session = history.createSession({ name, environment, settings, cases, ...(spec ? { spec } : {}) })
    return launch({ sessionId: session.id, sessionName: name, cases, settings, before: { results: 0, failures: 0 } }, onResult)
  }

  return {
    async devices(refresh) {
      // A host that measures is not disturbed by questions.
      if (job) return fleet.known()
      // One host takes milliseconds and another seconds; the page need not wait for the slowest.
      const devices = await fleet.devices(refresh, undefined, (some) => emitter.emit('devices', some))
      emitter.emit('devices', devices)
      return devices
    },

    start: (spec, name) =>
      begin(async () => {
        const devices = await fleet.devices(false, new Set(spec.targets.map((target) => target.backend)))
        const plan = planner.plan(spec, devices)
        if (plan.cases.length === 0) throw new Error(nothingToMeasure(plan))
        return create({ name: name?.trim() || sessionName(spec), settings: PRESETS[spec.preset], cases: plan.cases, devices, spec })
      }),

    resumeSession: (sessionId) =>
      begin(async () => {
        // Marks what a dead process left; what still runs after that runs in another Opscope.
        history.interrupted()
        const { name, planned, failures, results: done, state } = history.summary(sessionId)
        if (state === 'running') throw new BusyError(`"${name}" is being measured by another Opscope.`)
        const { session, environment } = history.getSession(sessionId)
        const cases = history.remaining(sessionId)
        if (cases.length === 0) throw new Error(`All ${planned} cases of "${name}" have a result; there is nothing to resume.`)
        // Hosts that are still being asked for their devices must have answered before they measure.
        await fleet.devices(false, new Set(cases.map((c) => c.backend)))
        history.setState(sessionId, 'running')
        // Only ceilings have no spec.
        const keep = session.spec ? undefined : ceilingKeeper(environment.devices)
        return launch({ sessionId, sessionName: name, cases, settings: session.settings ?? PRESETS.standard, before: { results: done, failures } }, keep)
      }),

    measureCeilings: (deviceIds) =>
      begin(async () => {
        const devices = (await fleet.devices(false)).filter((device) => device.available.ok && (deviceIds.length === 0 || deviceIds.includes(device.id)))
        const cases = devices.flatMap((device) => planner.ceilingCases(device))
        if (cases.length === 0) throw new Error('No device is available whose ceilings could be measured.')
        const name = `Ceilings of ${listed([...new Set(devices.map((device) => device.name))], 3)}`.slice(0, 200)
        return create({ name, settings: PRESETS.standard, cases, devices }, ceilingKeeper(devices))
      }),

    pause() {
      job?.pause()
      return state()
    },
    resume() {
      job?.resume()
      return state()
    },
    stop() {
      job?.stop()
      return state()
    },
    state,
    on: (event, listener) => emitter.on(event, listener),

    async dispose() {
      job?.stop()
      await running
      await fleet.close()
    },
  }
}
