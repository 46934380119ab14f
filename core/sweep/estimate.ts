import type { BenchmarkCase } from '../case'
import type { MeasureSettings } from '../measure/settings'
import { findOp } from '../ops/registry'
import type { Ceiling } from '../session/types'

/** What an estimate assumes of a device. bytes/s, FLOP/s and seconds. */
interface Rates {
  bytesPerSecond: number
  flopsPerSecond: number
  /** Of one call, whatever its size. */
  callSeconds: number
  /** Opening a case, filling its inputs per byte, and flushing the caches before a cold call. */
  openSeconds: number
  fillSecondsPerByte: number
  flushSeconds: number
}

/** Round figures for a device that has not been measured: a few cores, or a mid-range GPU. */
const PROCESSOR: Rates = { bytesPerSecond: 1e10, flopsPerSecond: 2e10, callSeconds: 1e-6, openSeconds: 0.01, fillSecondsPerByte: 1e-9, flushSeconds: 0.01 }
const ACCELERATOR: Rates = { bytesPerSecond: 5e11, flopsPerSecond: 5e12, callSeconds: 1e-5, openSeconds: 0.03, fillSecondsPerByte: 1e-11, flushSeconds: 1e-4 }

/** Reference work units (about one multiply-add each, inputs generated on the way) per second. */
const VERIFY_UNITS_PER_SECOND = 6e7
/** Kernels seldom reach a ceiling, least of all for small sizes. */
const TYPICAL_SHARE = 0.3
/** How much longer than the least a case samples until its interval is narrow enough, as a rule. */
const CONVERGENCE = 3

/** Devices without a choice of threads are accelerators. */
function ratesOf(c: BenchmarkCase, ceilings: readonly Ceiling[]): Rates {
  const base = c.threads === undefined ? ACCELERATOR : PROCESSOR
  const value = (kind: string) => ceilings.find((ceiling) => ceiling.backend === c.backend && ceiling.device === c.device && ceiling.kind === kind)?.value
  return { ...base, bytesPerSecond: value('copy') ?? base.bytesPerSecond, flopsPerSecond: value(`flops:${c.dtype}`) ?? value('flops:f32') ?? base.flopsPerSecond }
}

/** Expected wall time of one case in seconds: open and fill, verify twice, warm up, sample. */
export function estimateCaseSeconds(c: BenchmarkCase, settings: MeasureSettings, ceilings: readonly Ceiling[] = []): number {
  const rates = ratesOf(c, ceilings)
  const op = findOp(c.op)
  const parsed = op?.params.safeParse(c.params)
  if (!op || !parsed?.success) return rates.openSeconds
  const p = parsed.data
  const bytes = op.bytes(p, c.dtype)
  const call = rates.callSeconds + Math.max(bytes / rates.bytesPerSecond, op.flops(p) / rates.flopsPerSecond) / TYPICAL_SHARE
  const flush = c.mode === 'cold' ? rates.flushSeconds : 0
  const outputs = op.outputShape(p).reduce((a, b) => a * b, 1)
  const verify = (2 * Math.min(settings.verifyWork, outputs * op.referenceCost(p))) / VERIFY_UNITS_PER_SECOND
  const warmUp = Math.min(settings.maxWarmupSeconds, Math.max(0.03, 10 * call))
  const measured = Math.max(settings.minSeconds * CONVERGENCE, settings.minSamples * CONVERGENCE * call)
  const sampling = Math.min(settings.maxSeconds, measured * (1 + flush / call))
  return rates.openSeconds + bytes * rates.fillSecondsPerByte + verify + warmUp + Math.max(sampling, settings.minSamples * (call + flush))
}

/** Expected wall time of cases measured one after the other, in seconds. */
export const estimateSeconds = (cases: readonly BenchmarkCase[], settings: MeasureSettings, ceilings: readonly Ceiling[] = []): number =>
  cases.reduce((sum, c) => sum + estimateCaseSeconds(c, settings, ceilings), 0)

/** Seconds of estimate that weigh as much as the same time actually seen, so that the first case does not swing the figure. */
const PRIOR_SECONDS = 2

/** An estimate that learns: how each device's finished cases compared with what was expected scales what is left of it. */
export class Estimator {
  readonly #seen = new Map<string, { expected: number; took: number }>()

  constructor(
    private readonly settings: MeasureSettings,
    private readonly ceilings: readonly Ceiling[] = [],
  ) {}

  /** Takes note of how long a case really took. `wallMs` as on its Result. */
  finished(c: BenchmarkCase, wallMs: number): void {
    const key = `${c.backend}|${c.device}`
    const seen = this.#seen.get(key) ?? { expected: PRIOR_SECONDS, took: PRIOR_SECONDS }
    seen.expected += estimateCaseSeconds(c, this.settings, this.ceilings)
    seen.took += wallMs / 1000
    this.#seen.set(key, seen)
  }

  /** Expected seconds for the cases that are left. */
  remaining(cases: readonly BenchmarkCase[]): number {
    return cases.reduce((sum, c) => {
      const seen = this.#seen.get(`${c.backend}|${c.device}`)
      return sum + estimateCaseSeconds(c, this.settings, this.ceilings) * (seen ? seen.took / seen.expected : 1)
    }, 0)
  }
}
