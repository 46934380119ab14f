import { selfCheckPairs } from '@core/compare'
import { ceilingCases, ceilingsOf } from '@core/roofline/ceilings'
import { estimateCaseSeconds, withPaces } from '@core/sweep/estimate'
import { planSweep } from '@core/sweep/plan'
import { readEnvironment } from '../environment'
import type { Limits, Runner } from './types'
import { createRunnerWith } from './runner'
import type { RunnerDeps } from './run-setup'

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
