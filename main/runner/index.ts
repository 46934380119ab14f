import { selfCheckPairs } from '@core/compare'
import { ceilingCases, ceilingsOf } from '@core/roofline/ceilings'
import { estimateCaseSeconds, withPaces } from '@core/sweep/estimate'
import { planSweep } from '@core/sweep/plan'
import { readEnvironment } from '../environment'
import { type Limits, LIMITS, type Runner, type RunnerEvents } from './types'
import { type RunnerDeps, RunSetup } from './run-setup'
import { hostname } from 'node:os'
import { Scheduler } from './scheduler'
import { Emitter } from './events'
import { Fleet, serves } from './hosts/fleet'
import { measureCeilings, resumeSession, startInterleaved, startSelfCheck, startSweep } from './kinds'

/** Cases whose times estimates go by. */
const MAX_TOOK = 2000

/** The one runner of a process; see Runner for what it promises. */
export function createRunnerWith(deps: RunnerDeps): Runner {
  const limits = { ...LIMITS, ...deps.limits }
  const emitter = new Emitter<RunnerEvents>()
  const { hostKinds } = deps
  const fleet = new Fleet(typeof hostKinds === 'function' ? hostKinds : () => hostKinds, limits, (devices) => deps.planner.paced(devices, deps.history.lastTook(hostname(), MAX_TOOK), deps.history.ceilings()))
  const conductor = new Scheduler(deps.history, fleet, emitter, limits)
  const stage = new RunSetup(deps, fleet, conductor, emitter)

  return {
    async devices(refresh) {
      // A host that measures is not disturbed by questions.
      if (conductor.job) return fleet.known()
      // One host takes milliseconds and another seconds; the page need not wait for the slowest.
      const devices = await fleet.devices(refresh, undefined, (some) => emitter.emit('devices', some))
      emitter.emit('devices', devices)
      return devices
    },

    start: (spec, name, only) => conductor.begin(() => startSweep(stage, spec, name, only)),
    resumeSession: (sessionId) => conductor.begin(() => resumeSession(stage, sessionId)),
    measureCeilings: (deviceIds, scope) => conductor.begin(() => measureCeilings(stage, deviceIds, scope)),
    selfCheck: (deviceIds, pairs) => conductor.begin(() => startSelfCheck(stage, deviceIds, pairs)),
    interleave: (pairs, sessionId, threshold) => conductor.begin(() => startInterleaved(stage, pairs, sessionId, threshold)),

    whyNotInterleaved: async (pairs, sessionId) => {
      const cases = pairs.flatMap(({ a, b }) => [a, b])
      const devices = conductor.job ? fleet.known() : await fleet.devices(false, (kind) => cases.some((c) => serves(kind, c)))
      return stage.whyNotJoinable(sessionId, cases, devices)
    },

    pause() {
      conductor.job?.pause()
      return conductor.state()
    },
    resume() {
      conductor.job?.resume()
      return conductor.state()
    },
    stop() {
      conductor.job?.stop()
      return conductor.state()
    },
    state: () => conductor.state(),
    unsaved: () => conductor.unsaved,
    on: (event, listener) => emitter.on(event, listener),

    async dispose() {
      await conductor.finish()
      await fleet.close()
    },
  }
}

/** Tests of hangs cannot wait as long as users should. */
function testLimits(env: NodeJS.ProcessEnv): Partial<Limits> {
  const silenceMs = Number(env['OPSCOPE_TEST_SILENCE_MS'])
  return env['OPSCOPE_TEST_BACKEND'] === '1' && silenceMs > 0 ? { silenceMs } : {}
}

/** The runner of the product: core plans, this machine is the environment. */
export function createRunner(deps: Pick<RunnerDeps, 'history' | 'hostKinds' | 'settings'>): Runner {
  return createRunnerWith({
    ...deps,
    environment: (devices) => readEnvironment(devices, { noiseFloors: deps.history.noiseFloors() }),
    limits: testLimits(process.env),
    planner: { plan: planSweep, seconds: estimateCaseSeconds, paced: withPaces, ceilingCases, ceilingsOf, selfCheckPairs },
  })
}

export { BusyError, type HostKind, type Runner, type RunnerEvents } from './types'
