import type { Mode } from '../../case'
import type { Verification } from '../../result'
import { quantileOfSorted, madOfSorted } from '../../stats/descriptive'
import { Tempo, type Sampler, type Timed } from './sampler'
import type { MeasureSettings } from '../settings'

export const MAX_INNER = 1 << 20
/** Repeats grow at most this much per step: one short sample says little about many calls. */
const MAX_GROWTH = 100
const CALIBRATION_STEPS = 8
/** A sample this close to the wanted length is long enough. */
export const CLOSE = 0.8

export interface Pace {
  /** Calls per sample, as made. */
  inner: number
  /** True where the device takes no more calls per sample. */
  isMost?: boolean
  /** Wall seconds one sample takes, flushes and launches included. */
  wallSecondsPerSample: number
  nsPerCall: number
}

export interface WarmPace extends Pace {
  /** Whether windows of calls agreed before the limit. */
  settled: boolean
  /** The window that agreed with the one before, taken at this very pace: its samples are as good as any that follow. */
  window?: Timed
}

/** Ticks of its timer that a sample should last. */
const TICKS_PER_SAMPLE = 1000
/** Samples that the least measured time is cut into: enough for the statistics, few enough to store. */
export const SAMPLES_PER_MINIMUM = 256

export interface PaceRequest {
  sample: Sampler
  mode: Mode
  tickNs: number
  /** How long the first, untimed call took. */
  runSeconds: number
  settings: Pick<MeasureSettings, 'maxSeconds' | 'maxWarmupSeconds'>
  /** Wall time that sampling is planned to last at least. */
  minSeconds: number
  /** The pace of a measurement of this case before, with the same times: calls per sample stay as they were, and its window is the first to agree with. */
  from?: WarmPace
  /** Monotonic clock in ms. */
  now: () => number
}

/** How long a sample should last. */
export const sampleTargetNs = (tickNs: number, minSeconds: number): number => Math.max(TICKS_PER_SAMPLE * tickNs, (minSeconds * 1e9) / SAMPLES_PER_MINIMUM)

/** Warms the case up and finds how many calls make a sample. One call longer than the whole limit is left as it is, with a note. */
export async function findPace({ sample, mode, tickNs, runSeconds, settings, minSeconds, from, now }: PaceRequest): Promise<WarmPace & { notes: string[] }> {
  if (runSeconds >= settings.maxSeconds) {
    const note = `One call takes ${runSeconds.toPrecision(3)} s, longer than the limit of ${settings.maxSeconds} s: not warmed up, and only the fewest samples taken.`
    return { inner: 1, wallSecondsPerSample: runSeconds, nsPerCall: runSeconds * 1e9, settled: true, notes: [note] }
  }
  const targetNs = sampleTargetNs(tickNs, minSeconds)
  const warm = await warmUp(sample, mode, from ?? (await calibrate(sample, mode, targetNs, tickNs)), settings.maxWarmupSeconds, now, from?.window, from ? 0 : LEFT_OVER_SECONDS)
  if (from) return { ...warm, notes: [] }
  const { nsPerCall, inner } = warm
  // Clocks that rose during warm-up make samples shorter than they were calibrated for.
  if (mode === 'cold' || warm.isMost || !(nsPerCall > 0) || nsPerCall * inner >= targetNs * CLOSE) return { ...warm, notes: [] }
  const longer = Math.ceil(targetNs / nsPerCall)
  return { settled: warm.settled, nsPerCall, inner: longer, wallSecondsPerSample: (warm.wallSecondsPerSample * longer) / inner, notes: [] }
}

/** Finds how many calls make a sample of `targetNs`. Cold samples have one call by definition. */
export async function calibrate(sample: Sampler, mode: Mode, targetNs: number, tickNs: number): Promise<Pace> {
  let inner = 1
  for (let step = 1; ; step++) {
    const timed = await sample({ mode, count: 1, inner })
    const nsPerCall = timed.samplesNs[0]!
    const sampleNs = nsPerCall * timed.inner
    const isMost = timed.inner < inner
    const pace = { inner: timed.inner, isMost, wallSecondsPerSample: timed.wallSecondsPerSample, nsPerCall }
    if (mode === 'cold' || sampleNs >= targetNs * CLOSE || isMost || inner >= MAX_INNER || step === CALIBRATION_STEPS) return pace
    const growth = Math.min(MAX_GROWTH, targetNs / Math.max(sampleNs, tickNs))
    inner = Math.min(MAX_INNER, Math.max(timed.inner + 1, Math.ceil(timed.inner * growth)))
  }
}

/** Windows agree when their medians differ by less than this. */
const AGREEMENT = 0.01
const WINDOWS_PER_LIMIT = 40
const LONGEST_WINDOW_SECONDS = 0.02
/** The first window is this share of the longest and each the double of the one before: a case that is warm at once has its longest window counted. */
const FIRST_WINDOW = 0.25
const MAX_WINDOW_SAMPLES = 10_000
/** A window of fewer samples says nothing about its noise; it is made longer if this share of the limit allows it. */
const MIN_WINDOW_SAMPLES = 3
const MIN_WINDOWS = 6
/**
 * A reason for throttling that the work before left behind is still told for half a second on an H200, while the clock is
 * back at its highest and the power falls: a case is warmed up so long before a reason counts as its own.
 */
const LEFT_OVER_SECONDS = 0.7

/**
 * Runs windows of samples until two in a row agree within 1 %, or within what their own noise explains, or the limit
 * is reached. `before` is such a window of an earlier measurement of the case. While the device names a reason for throttling,
 * windows go on for up to `leftOverSeconds` in all. Returns the pace of the last window, whether it had settled, and then the window
 * itself.
 */
export async function warmUp(sample: Sampler, mode: Mode, pace: Pace, maxSeconds: number, now: () => number, before?: Timed, leftOverSeconds = 0): Promise<WarmPace> {
  const longest = Math.min(maxSeconds / WINDOWS_PER_LIMIT, LONGEST_WINDOW_SECONDS)
  let windowSeconds = longest * FIRST_WINDOW
  const from = now()
  const seconds = () => (now() - from) / 1000
  let settled = false
  let previous = before && Float64Array.from(before.samplesNs).sort()
  let { inner, wallSecondsPerSample, nsPerCall } = pace
  const { isMost = false } = pace
  for (;;) {
    if (seconds() >= (settled ? Math.max(maxSeconds, leftOverSeconds) : maxSeconds)) return { inner, isMost, wallSecondsPerSample, nsPerCall, settled }
    const least = wallSecondsPerSample * MIN_WINDOW_SAMPLES * MIN_WINDOWS <= maxSeconds * 2 ? MIN_WINDOW_SAMPLES : 1
    const count = Math.max(least, Math.min(MAX_WINDOW_SAMPLES, Math.ceil(windowSeconds / Math.max(wallSecondsPerSample, 1e-7))))
    const timed = await sample({ mode, count, inner })
    inner = timed.inner
    const window = Float64Array.from(timed.samplesNs).sort()
    wallSecondsPerSample = timed.wallSecondsPerSample
    nsPerCall = quantileOfSorted(window, 0.5)
    const agrees = previous !== undefined && agree(previous, window)
    settled ||= agrees
    const isThrottled = (timed.state.throttle?.length ?? 0) > 0
    if (agrees && !(isThrottled && seconds() < leftOverSeconds)) return { inner, isMost, wallSecondsPerSample, nsPerCall, settled: true, window: timed }
    previous = window
    windowSeconds = Math.min(longest, 2 * windowSeconds)
  }
}

function agree(before: Float64Array, after: Float64Array): boolean {
  const a = quantileOfSorted(before, 0.5)
  const b = quantileOfSorted(after, 0.5)
  return Math.abs(a - b) <= Math.max(AGREEMENT * Math.max(a, b), 2 * Math.hypot(medianError(before), medianError(after)))
}

/** Standard error of a median, from the MAD as for a normal distribution; 0 for windows too short to know. */
const medianError = (ascending: Float64Array) => (ascending.length < MIN_WINDOW_SAMPLES ? 0 : (1.2533 * 1.4826 * madOfSorted(ascending)) / Math.sqrt(ascending.length))

/**
 * What measurements of one open case have shown. A case that stays open for many short ones, the blocks of a comparison,
 * is verified with other inputs and paced once. Every later block marks its output as unwritten and checks it against
 * the reference, as the first does after timing; its inputs lie there already.
 */
export class CaseWarmState {
  /** How long requests for its samples take. */
  readonly tempo = new Tempo()
  #known: { settings: MeasureSettings; verification: Verification; pace: WarmPace } | undefined

  /** What is known for measurements by these settings; undefined before the first right one. */
  for({ seed, verifyWork, minSeconds, rule }: MeasureSettings): { verification: Verification; pace: WarmPace } | undefined {
    const known = this.#known
    const same = known && known.settings.seed === seed && known.settings.verifyWork >= verifyWork && known.settings.minSeconds === minSeconds && JSON.stringify(known.settings.rule) === JSON.stringify(rule)
    return same ? known : undefined
  }

  learn(settings: MeasureSettings, verification: Verification, pace: WarmPace): void {
    // A later block is checked with less work; what the first check found still holds.
    const verifyWork = Math.max(settings.verifyWork, this.#known?.settings.verifyWork ?? 0)
    this.#known = { settings: { ...settings, verifyWork }, verification, pace }
  }
}
