import { CaseError, problemOutputs, type PreparedCase } from '../backend'
import type { BenchmarkCase } from '../case'
import { tensorsOf } from '../ops/define'
import type { Op } from '../ops/types'
import type { Result, Verification } from '../result'
import { collect } from './sampling/collect'
import { measureEnergy, NO_ENERGY } from './energy/measure'
import { costOf, endedResult, record } from './result/record'
import { findPace, type CaseWarmState } from './sampling/warm-up'
import { breather, CancelledError, createSampler } from './sampling/sampler'
import type { Phase } from './protocol'
import type { MeasureSettings } from './settings'
import { criterionFor, timeFrame, type StoppingCriterion } from './sampling/stopping'
import type { VerifyPool } from './verify/pool'
import { createVerifier } from './verify/verify'

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
  /** What earlier measurements of this very `prepared` have shown; this one adds to it. */
  warmState?: CaseWarmState
  /** Threads that compare the outputs with their references; default: the calling one. */
  pool?: VerifyPool
  /** Idle power of devices, kept between cases of a process. */
  idlePower?: Map<string, number>
  /** Seed of samples and projections of large outputs (Verification.sampleSeed); default: that of the inputs. */
  sampleSeed?: number
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

/** Calls whose hardware counters are read, at most: a call counts the same each time. */
const MAX_COUNTED_CALLS = 1000

async function measure(request: MeasureRequest, now: () => number, startedAt: string): Promise<Result> {
  const { op, case: c, prepared, settings, signal } = request
  const report = (phase: Phase, samples = 0, relativeCi?: number) =>
    request.onProgress?.(relativeCi === undefined ? { phase, samples } : { phase, samples, relativeCi })
  const result: Result = {
    id: request.resultId, case: c, status: 'ok', startedAt, wallMs: 0, measuredMs: 0, ...costOf(c, op),
    samplesNs: [], timer: prepared.timer, tickNs: prepared.tickNs, seed: settings.seed,
  }

  const verifier = (seed: number) => createVerifier(op, c, seed, settings.verifyWork, { ...(request.pool ? { pool: request.pool } : {}), ...(request.sampleSeed === undefined ? {} : { sampleSeed: request.sampleSeed }) })
  const known = request.warmState?.for(settings)
  let runSeconds = 0
  if (known) result.verification = known.verification
  else {
    report('verifying')
    const breathe = breather(signal, now, () => report('verifying'))
    const seed = firstSeed(settings.seed)
    if (request.filledSeed !== seed) await prepared.refill(seed)
    await prepared.poison()
    const runFrom = now()
    await prepared.run()
    runSeconds = (now() - runFrom) / 1000
    await breathe()
    result.verification = await verifier(seed).check(prepared, 'before', breathe)
    if (!result.verification.ok && !result.verification.inaccurate) return refused(result, result.verification)
    await prepared.refill(settings.seed)
  }

  report('warming up')
  const sample = createSampler(prepared, now, signal, request.warmState?.tempo)
  const frame = timeFrame(settings)
  const pace = await findPace({ sample, mode: c.mode, tickNs: prepared.tickNs, runSeconds, settings, minSeconds: frame.minSeconds, now, ...(known ? { from: known.pace } : {}) })

  await prepared.poison()
  report('sampling')
  const criterion = request.criterion ?? criterionFor(settings)
  const collected = await collect({ sample, mode: c.mode, pace, criterion, ...frame, now, onBatch: (n, ci) => report('sampling', n, ci) })

  const counters = known ? undefined : await prepared.counters?.(c.mode, Math.max(1, Math.min(collected.inner, MAX_COUNTED_CALLS)))
  if (counters) result.counters = counters

  const checking = () => report('checking', collected.samplesNs.length)
  checking()
  const drifted = changesItsInputs(op, c)
  if (drifted) {
    await prepared.refill(settings.seed)
    await prepared.poison()
    await prepared.run()
  }
  result.verificationAfter = { ...(await verifier(settings.seed).check(prepared, 'after', breather(signal, now, checking))), ...(drifted ? { fresh: true } : {}) }
  record(result, collected, pace, prepared)
  if (!result.verificationAfter.ok) return refused(result, result.verificationAfter, 'After timing: ')
  if (!result.verification.ok) return refused(result, result.verification)
  request.warmState?.learn(settings, result.verification, pace)
  if (settings.energy) {
    const measured = await measureEnergy({
      prepared, callNs: result.summary!.medianNs, idle: request.idlePower ?? new Map<string, number>(), device: `${c.backend}/${c.device}`, now, ...(signal ? { signal } : {}),
      onBatch: () => report('measuring energy', collected.samplesNs.length),
    })
    if ('energy' in measured) result.energy = measured.energy
    const notes = 'energy' in measured ? measured.notes : [`${NO_ENERGY}: ${measured.reason}`]
    if (notes.length > 0) result.notes = [...(result.notes ?? []), ...notes]
  }
  return result
}

/** True where timed calls change what later ones read, so that the timed output has no reference: another call on fresh inputs is checked instead. */
export const changesItsInputs = (op: Op, c: BenchmarkCase): boolean =>
  op.drifts === true || problemOutputs({ tensors: tensorsOf(op, op.params.parse(c.params), c.dtype) }).some(({ role }) => role === 'inout')

/** A result that failed verification, or is too inaccurate to be ranked, keeps what was taken and never counts as a measurement. */
function refused(result: Result, { inaccurate, message }: Verification, when = ''): Result {
  delete result.grade
  delete result.gradeReasons
  return { ...result, status: inaccurate ? 'inaccurate' : 'wrong', message: `${when}${message ?? 'The output is wrong.'}` }
}
