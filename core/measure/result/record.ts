import { CaseError, type PreparedCase, type CaseErrorCode } from '../../backend'
import type { BenchmarkCase } from '../../case'
import { findOp } from '../../ops/registry'
import type { Op } from '../../ops/types'
import type { Result, Summary, Status } from '../../result'
import { summarize } from '../../stats/summarize'
import type { Collected } from '../sampling/collect'
import { gradeOf, labelReason } from './grade'
import { chooseSamples, cleanSamples } from './labels'
import type { Pace } from '../sampling/warm-up'

/** Readings are kept to a tenth: more digits are noise, and there are as many as samples. */
export const tenths = (values: readonly number[]) => values.map((value) => Math.round(value * 10) / 10)

/** An interval widened less than this gets no note: chance does as much. */
const NOTABLE_WIDENING = 1.5

/** The note on an interval that was widened for autocorrelation. */
const dependence = ({ ciWidened }: Summary) =>
  ciWidened !== undefined && ciWidened >= NOTABLE_WIDENING ? [`CI widened ${Number(ciWidened.toPrecision(2))}x (autocorrelated samples).`] : []

/**
 * Writes what was collected into the result: every sample with what is known of its conditions, the statistics of those
 * that count, and the grade. Throws a CaseError when the timer showed no time passing.
 */
export function record(result: Result, collected: Collected, pace: Omit<Pace, 'inner'> & { settled: boolean; notes: readonly string[] }, prepared: PreparedCase): void {
  const { samplesNs, inner, labels, measuredSeconds, elapsedSeconds, converged, stopReason } = collected
  const taken = samplesNs.length
  const choice = chooseSamples(labels, taken)
  const counted = cleanSamples({ samplesNs, labels })
  const summary = summarize(counted, prepared.tickNs / inner)
  if (!summary || !(summary.medianNs > 0)) {
    throw new CaseError('internal', `The timer showed no time passing in ${taken} samples; its tick is ${prepared.tickNs} ns.`)
  }
  const { grade, reasons } = gradeOf({
    summary, samplesNs: counted, taken, labels, choice, elapsedSeconds, converged, stopReason, timer: prepared.timer, tickNs: prepared.tickNs,
    inner, settled: pace.settled, states: collected.states.map((entry) => entry.state),
    ...(collected.probesNs ? { probesNs: collected.probesNs } : {}),
  })
  Object.assign(result, { samplesNs, measuredMs: measuredSeconds * 1000, inner, summary, converged, stopReason, grade })
  if (reasons.length > 0) result.gradeReasons = reasons
  const notes = [...prepared.notes, ...pace.notes, ...dependence(summary)]
  if (notes.length > 0) result.notes = notes
  const states = collected.states.filter(({ state }) => Object.values(state).some((value) => value !== undefined))
  if (states.length > 0) result.deviceStates = states
  if (collected.clocksMhz) result.clocksMhz = tenths(collected.clocksMhz)
  if (collected.probesNs) result.probesNs = tenths(collected.probesNs)
  if (labels.length > 0) {
    result.labels = labels
    const message = choice.setAside ? undefined : labelReason({ labels, taken, choice })
    if (message) result.message = message
  }
  const memory = prepared.memory()
  result.caseBytes = memory.caseBytes
  if (memory.deviceDeltaBytes !== undefined) result.deviceDeltaBytes = memory.deviceDeltaBytes
  if (memory.libraryPeakBytes !== undefined) result.libraryPeakBytes = memory.libraryPeakBytes
  const launches = prepared.launches?.() ?? []
  if (launches.length > 0) result.launches = launches
  if (collected.hostCallNs !== undefined) result.hostCallNs = collected.hostCallNs
}

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
