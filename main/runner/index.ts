import { ceilingCases, ceilingsOf } from '@core/roofline/ceilings'
import { estimateCaseSeconds } from '@core/sweep/estimate'
import { planSweep } from '@core/sweep/plan'
import { readEnvironment } from '../environment'
import type { History } from '../history/types'
import type { Limits } from './limits'
import { createRunnerWith } from './runner'
import type { HostKind, Runner } from './types'

/** Tests of hangs cannot wait as long as users should. */
function testLimits(env: NodeJS.ProcessEnv): Partial<Limits> {
  const silenceMs = Number(env['OPSCOPE_TEST_SILENCE_MS'])
  return env['OPSCOPE_TEST_BACKEND'] === '1' && silenceMs > 0 ? { silenceMs } : {}
}

/** The runner of the product: core plans, this machine is the environment. */
export function createRunner({ history, hostKinds }: { history: History; hostKinds: readonly HostKind[] }): Runner {
  return createRunnerWith({
    history,
    hostKinds,
    environment: readEnvironment,
    limits: testLimits(process.env),
    planner: { plan: planSweep, seconds: estimateCaseSeconds, ceilingCases, ceilingsOf },
  })
}

export { BusyError, type HostKind, type Runner, type RunnerEvents } from './types'
