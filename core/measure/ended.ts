import type { CaseErrorCode } from '../backend'
import type { BenchmarkCase } from '../case'
import type { Op } from '../ops/types'
import { findOp } from '../ops/registry'
import type { Result, Status } from '../result'

/** Longest texts a result holds (core/result.ts). */
const MESSAGE = 4000
const DETAIL = 20_000

export interface Ending {
  resultId: string
  case: BenchmarkCase
  status: Exclude<Status, 'ok' | 'inaccurate'>
  /** What happened, for the user. */
  message: string
  /** The system's own words. */
  detail?: string
  errorCode?: CaseErrorCode
  seed: number
  /** ISO 8601 UTC; now when absent. */
  startedAt?: string
  wallMs?: number
}

/** The cost model of a case: 0 where its op or parameters are not valid, so that any case can be recorded. */
export function costOf(c: BenchmarkCase, op: Op | undefined = findOp(c.op)): { bytes: number; flops: number } {
  const params = op?.params.safeParse(c.params)
  return op && params?.success ? { bytes: op.bytes(params.data, c.dtype), flops: op.flops(params.data) } : { bytes: 0, flops: 0 }
}

/** Result of a case that ended without a measurement: failed, skipped, crashed, timed out. */
export function endedResult(ending: Ending): Result {
  const result: Result = {
    id: ending.resultId,
    case: ending.case,
    status: ending.status,
    message: (ending.message || 'The case ended without saying why.').slice(0, MESSAGE),
    startedAt: ending.startedAt ?? new Date().toISOString(),
    wallMs: Math.max(0, ending.wallMs ?? 0),
    measuredMs: 0,
    ...costOf(ending.case),
    samplesNs: [],
    seed: ending.seed,
  }
  if (ending.detail) result.detail = ending.detail.slice(0, DETAIL)
  if (ending.errorCode) result.errorCode = ending.errorCode
  return result
}
