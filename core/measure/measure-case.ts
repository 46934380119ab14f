import { CaseError, type PreparedCase } from '../backend'
import type { BenchmarkCase } from '../case'
import type { Op } from '../ops/types'
import type { Result } from '../result'
import { summarize } from '../stats/summarize'
import { collect, type Collected } from './collect'
import { costOf, endedResult } from './ended'
import { gradeOf, labelReason } from './grade'
import { chooseSamples } from './labels'
import { pause } from './pause'
import type { Phase } from './protocol'
import { CancelledError, createSampler } from './sampler'
import type { MeasureSettings } from './settings'
import { criterionFor, timeFrame, type StoppingCriterion } from './stopping'
import { createVerifier } from './verify/verify'
import { findPace, type Pace } from './warm-up'

export interface Progress {
  phase: Phase
  samples: number
  relativeCi?: number
}

export interface MeasureRequest {
  op: Op
  case: BenchmarkCase
  prepared: PreparedCase
  settings: MeasureSettings
  /** Monotonic clock in ms; `performance.now` where absent. */
  now?: () => number
  /** Value of `now` when set-up of the case began, so that wallMs counts it. */
  startedMs?: number
  onProgress?: (progress: Progress) => void
  signal?: AbortSignal
  resultId: string
  /** Default: by the rule of the settings. */
  criterion?: StoppingCriterion
  /** Seed of the inputs as they are now, where it is known: they are filled anew unless it is the one to verify with. */
  filledSeed?: number
}

/**
 * Seed of the inputs that a case with this seed is first verified with. Warm-up and timing have those of the seed
 * itself, and the timed output is checked against them: a kernel that returns what it computed before is found out.
 */
export const firstSeed = (seed: number): number => (seed + 1) >>> 0

/**
 * Measures one prepared case: verify, fill other inputs in, warm up, sample until the criterion says so, check the timed
 * output against those. The problem that `prepared` was opened with has the seed `firstSeed(settings.seed)`, or any other
 * unless `filledSeed` says so.
 * The one loop for every backend. Resolves with a result for anything a case can do (wrong, failed, unsupported);
 * rejects with CancelledError when cancelled. Does not dispose the case.
 */
export async function measureCase(request: MeasureRequest): Promise<Result> {
  const now = request.now ?? (() => performance.now())
  const startedMs = request.startedMs ?? now()
  const startedAt = new Date(Date.now() - Math.max(0, now() - startedMs)).toISOString()
  const wallMs = () => Math.max(0, now() - startedMs)
  try {
    const result = await measure(request, now, startedAt)
    return { ...result, wallMs: wallMs() }
  } catch (error) {
    if (error instanceof CancelledError) throw error
    return failure(error, { resultId: request.resultId, case: request.case, seed: request.settings.seed, startedAt, wallMs: wallMs() })
  }
}

/** The result of a case that ended with `error`: skipped when unsupported, else failed. */
export function failure(error: unknown, about: { resultId: string; case: BenchmarkCase; seed: number; startedAt?: string; wallMs?: number }): Result {
  const known = error instanceof CaseError ? error : undefined
  const message = error instanceof Error ? error.message : String(error)
  const detail = known ? known.detail : error instanceof Error ? error.stack : undefined
  return endedResult({ ...about, status: known?.code === 'unsupported' ? 'skipped' : 'failed', message, detail, errorCode: known?.code })
}

async function measure(request: MeasureRequest, now: () => number, startedAt: string): Promise<Result> {
  const { op, case: c, prepared, settings, signal } = request
  const report = (phase: Phase, samples = 0, relativeCi?: number) =>
    request.onProgress?.(relativeCi === undefined ? { phase, samples } : { phase, samples, relativeCi })
  const breathe = async () => {
    await pause()
    if (signal?.aborted) throw new CancelledError()
  }
  const result: Result = {
    id: request.resultId, case: c, status: 'ok', startedAt, wallMs: 0, measuredMs: 0, ...costOf(c, op),
    samplesNs: [], timer: prepared.timer, tickNs: prepared.tickNs, seed: settings.seed,
  }

  report('verifying')
  const seed = firstSeed(settings.seed)
  if (request.filledSeed !== seed) await prepared.refill(seed)
  await prepared.poison()
  const runFrom = now()
  await prepared.run()
  const runSeconds = (now() - runFrom) / 1000
  await breathe()
  result.verification = await createVerifier(op, c, seed, settings.verifyWork).check(prepared, 'before', breathe)
  if (!result.verification.ok) return wrong(result, result.verification.message)

  report('warming up')
  await prepared.refill(settings.seed)
  const sample = createSampler(prepared, now, signal)
  const frame = timeFrame(settings)
  const pace = await findPace({ sample, mode: c.mode, tickNs: prepared.tickNs, runSeconds, settings, minSeconds: frame.minSeconds, now })

  await prepared.poison()
  report('sampling')
  const criterion = request.criterion ?? criterionFor(settings)
  const collected = await collect({ sample, mode: c.mode, pace, criterion, ...frame, now, onBatch: (n, ci) => report('sampling', n, ci) })

  report('checking', collected.samplesNs.length)
  result.verificationAfter = await createVerifier(op, c, settings.seed, settings.verifyWork).check(prepared, 'after', breathe)
  record(result, collected, pace, prepared)
  if (!result.verificationAfter.ok) return wrong(result, `After timing: ${result.verificationAfter.message ?? 'the output is wrong.'}`)
  return result
}

const tenths = (values: readonly number[]) => values.map((value) => Math.round(value * 10) / 10)

/** Writes what was collected into the result: every sample, the statistics of those that count, and the grade. */
function record(result: Result, collected: Collected, pace: Pace & { settled: boolean; notes: readonly string[] }, prepared: PreparedCase): void {
  const { samplesNs, labels, measuredSeconds, converged, stopReason } = collected
  const taken = samplesNs.length
  const choice = chooseSamples(labels, taken)
  const counted = choice.setAside ? samplesNs.filter((_, i) => choice.used[i] === 1) : samplesNs
  const summary = summarize(counted, prepared.tickNs / pace.inner)
  if (!summary || !(summary.medianNs > 0)) {
    throw new CaseError('internal', `The timer showed no time passing in ${taken} samples; its tick is ${prepared.tickNs} ns.`)
  }
  const { grade, reasons } = gradeOf({
    summary, samplesNs: counted, taken, labels, choice, measuredSeconds, converged, stopReason, timer: prepared.timer, tickNs: prepared.tickNs,
    inner: pace.inner, settled: pace.settled, states: collected.states.map((entry) => entry.state),
  })
  Object.assign(result, { samplesNs, measuredMs: measuredSeconds * 1000, inner: pace.inner, summary, converged, stopReason, grade })
  if (reasons.length > 0) result.gradeReasons = reasons
  const notes = [...prepared.notes, ...pace.notes]
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
}

/** A wrong result keeps what was taken and never counts as a measurement. */
function wrong(result: Result, message: string | undefined): Result {
  delete result.grade
  delete result.gradeReasons
  return { ...result, status: 'wrong', message: message ?? 'The output is wrong.' }
}
