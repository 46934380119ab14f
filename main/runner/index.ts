import { ceilingCases, ceilingOf } from '@core/roofline/ceilings'
import { estimateCaseSeconds } from '@core/sweep/estimate'
import { planSweep } from '@core/sweep/plan'
import { readEnvironment } from '../environment'
import type { History } from '../history/types'
import { createRunnerWith } from './runner'
import type { HostKind, Runner } from './types'

/** The runner of the product: core plans, this machine is the environment. */
export function createRunner({ history, hostKinds }: { history: History; hostKinds: readonly HostKind[] }): Runner {
  return createRunnerWith({
    history,
    hostKinds,
    environment: readEnvironment,
    planner: { plan: planSweep, seconds: estimateCaseSeconds, ceilingCases, ceilingOf },
  })
}

export { BusyError, type HostKind, type Runner, type RunnerEvents } from './types'
