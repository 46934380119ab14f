import type { BenchmarkCase } from '@core/case'
import type { MeasureSettings } from '@core/measure/settings'
import { findOp } from '@core/ops/registry'
import type { Result, Status } from '@core/result'

/** A result made by the runner because no host could: what the cost model says, no samples, and the reason. */
export function unmeasured(made: {
  id: string
  case: BenchmarkCase
  settings: MeasureSettings
  status: Exclude<Status, 'ok' | 'wrong'>
  message: string
  detail?: string
  startedAt: Date
  wallMs: number
}): Result {
  const op = findOp(made.case.op)
  const params = op?.params.safeParse(made.case.params)
  const known = op && params?.success ? { bytes: op.bytes(params.data, made.case.dtype), flops: op.flops(params.data) } : { bytes: 0, flops: 0 }
  return {
    id: made.id,
    case: made.case,
    status: made.status,
    message: made.message.slice(0, 4000),
    ...(made.detail ? { detail: made.detail.slice(-20_000) } : {}),
    startedAt: made.startedAt.toISOString(),
    wallMs: made.wallMs,
    measuredMs: 0,
    ...known,
    samplesNs: [],
    seed: made.settings.seed,
  }
}

/** Whether a user who asked for this case did not get a figure to trust. */
export const isFailure = (status: Status): boolean => status !== 'ok' && status !== 'skipped'
