import { CaseError, type PreparedCase } from '../backend'
import type { BenchmarkCase } from '../case'
import type { Op } from '../ops/types'
import type { Result } from '../result'
import { summarize } from '../stats/summarize'
import { costOf, endedResult } from './ended'
import { gradeOf } from './grade'
import { pause } from './pause'
import type { Phase } from './protocol'
import { collect } from './collect'
import { CancelledError, createSampler } from './sampler'
import type { MeasureSettings } from './settings'
import { relativeCiCriterion, type StoppingCriterion } from './stopping'
import { createVerifier } from './verify/verify'
import { calibrate, warmUp } from './warm-up'

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
  /** Default: relative-ci from the settings. */
  criterion?: StoppingCriterion
}

/** Ticks of its timer that a sample should last. */
const TICKS_PER_SAMPLE = 1000
/** Samples that the least measured time is cut into: enough for the statistics, few enough to store. */
const SAMPLES_PER_MINIMUM = 256

/**
 * Measures one prepared case: verify, warm up, sample until the criterion says so, check the timed output again.
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
  return endedResult({ ...about, status: known?.code === 'unsupported' ? 'skipped' : 'failed', message, detail })
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
  const verifier = createVerifier(op, c, settings.seed, settings.verifyWork)
  await prepared.poison()
  const runFrom = now()
  await prepared.run()
  const runSeconds = (now() - runFrom) / 1000
  await breathe()
  result.verification = await verifier.check(prepared, 'before', breathe)
  if (!result.verification.ok) return wrong(result, result.verification.message)

  report('warming up')
  const sample = createSampler(prepared, now, signal)
  const notes = [...prepared.notes]
  let pace = { inner: 1, wallSecondsPerSample: runSeconds, nsPerCall: runSeconds * 1e9 }
  let settled = true
  if (runSeconds >= settings.maxSeconds) {
    notes.push(`One call takes ${runSeconds.toPrecision(3)} s, longer than the limit of ${settings.maxSeconds} s: not warmed up, and only the fewest samples taken.`)
  } else {
    const targetNs = Math.max(TICKS_PER_SAMPLE * prepared.tickNs, (settings.minSeconds * 1e9) / SAMPLES_PER_MINIMUM)
    pace = await calibrate(sample, c.mode, targetNs, prepared.tickNs)
    const warm = await warmUp(sample, c.mode, pace, settings.maxWarmupSeconds, now)
    settled = warm.settled
    pace = warm
    // Clocks that rose during warm-up make samples shorter than they were calibrated for.
    if (c.mode !== 'cold' && pace.nsPerCall > 0 && pace.nsPerCall * pace.inner < targetNs * 0.8) {
      const inner = Math.ceil(targetNs / pace.nsPerCall)
      pace = { ...pace, inner, wallSecondsPerSample: (pace.wallSecondsPerSample * inner) / pace.inner }
    }
  }

  await prepared.poison()
  report('sampling')
  const criterion = request.criterion ?? relativeCiCriterion(settings)
  const sampled = await collect({ sample, mode: c.mode, pace, criterion, maxSeconds: settings.maxSeconds, minSeconds: settings.minSeconds, now, onBatch: (n, ci) => report('sampling', n, ci) })

  report('checking', sampled.samplesNs.length)
  result.verificationAfter = await verifier.check(prepared, 'after', breathe)
  const summary = summarize(sampled.samplesNs, prepared.tickNs / pace.inner)
  if (!summary || !(summary.medianNs > 0)) {
    throw new CaseError('internal', `The timer showed no time passing in ${sampled.samplesNs.length} samples; its tick is ${prepared.tickNs} ns.`)
  }
  const graded = gradeOf({
    summary, samplesNs: sampled.samplesNs, converged: sampled.converged, stopReason: sampled.stopReason, timer: prepared.timer,
    tickNs: prepared.tickNs, inner: pace.inner, settled, states: sampled.states.map((entry) => entry.state),
  })
  result.samplesNs = sampled.samplesNs
  result.measuredMs = sampled.measuredSeconds * 1000
  result.inner = pace.inner
  result.summary = summary
  result.converged = sampled.converged
  result.stopReason = sampled.stopReason
  result.grade = graded.grade
  if (graded.reasons.length > 0) result.gradeReasons = graded.reasons
  if (notes.length > 0) result.notes = notes
  if (sampled.states.length > 0) result.deviceStates = sampled.states
  const memory = prepared.memory()
  result.caseBytes = memory.caseBytes
  if (memory.deviceDeltaBytes !== undefined) result.deviceDeltaBytes = memory.deviceDeltaBytes
  if (!result.verificationAfter.ok) return wrong(result, `After timing: ${result.verificationAfter.message ?? 'the output is wrong.'}`)
  return result
}

/** A wrong result keeps what was taken and never counts as a measurement. */
function wrong(result: Result, message: string | undefined): Result {
  delete result.grade
  delete result.gradeReasons
  return { ...result, status: 'wrong', message: message ?? 'The output is wrong.' }
}
