import type { PreparedCase } from '@core/backend'
import type { Mode } from '@core/case'
import { quantileOfSorted, sorted } from '@core/stats/descriptive'
import { serialIntervalOf } from '@core/stats/serial'
import { relativeInterval } from '@core/stats/summarize'

/** All that a rule needs of a prepared case. */
export type Sampled = Pick<PreparedCase, 'sample'>

/** What a procedure spent on a case: warm-up and sampling, and the width it ended with. */
export interface Spent {
  /** Sum of the durations of the samples kept, in seconds. */
  measuredSeconds: number
  /** Wall time from the first call to the last, warm-up and flushes included, in seconds. */
  wallSeconds: number
  samples: number
  medianNs: number
  /** Half the 95 % CI of the median over the median. */
  relativeCi: number
}

export interface Budget {
  /** Width at which a case is done. */
  relativeCi: number
  limitSeconds: number
}

/** Calls per backend request while a rule samples: small, so that a rule that could stop is asked soon. */
const BATCH_SECONDS = 0.02

class Tally {
  readonly samplesNs: number[] = []
  measuredSeconds = 0
  readonly #from = performance.now()

  constructor(
    private readonly prepared: Sampled,
    private readonly mode: Mode,
    private readonly inner: number,
  ) {}

  get wallSeconds(): number {
    return (performance.now() - this.#from) / 1000
  }

  /** Runs `count` samples; kept unless they warm up. Returns them with the wall seconds of one. */
  async take(count: number, keep = true): Promise<{ samplesNs: Float64Array; secondsEach: number }> {
    const from = performance.now()
    const { samplesNs } = await this.prepared.sample({ mode: this.mode, count, inner: this.inner })
    if (keep) {
      for (const ns of samplesNs) this.samplesNs.push(ns)
      this.measuredSeconds += samplesNs.reduce((sum, ns) => sum + ns * this.inner, 0) / 1e9
    }
    return { samplesNs, secondsEach: (performance.now() - from) / 1000 / samplesNs.length }
  }

  /** Width of the median's interval now, as core/stats has it; infinite while there is none. */
  width(): number {
    const ascending = sorted(this.samplesNs)
    return (ascending && relativeInterval(serialIntervalOf(this.samplesNs, ascending), quantileOfSorted(ascending, 0.5))) ?? Infinity
  }

  spent(): Spent {
    return { measuredSeconds: this.measuredSeconds, wallSeconds: this.wallSeconds, samples: this.samplesNs.length, medianNs: quantileOfSorted(sorted(this.samplesNs)!, 0.5), relativeCi: this.width() }
  }
}

/**
 * The rule of triton.testing.do_bench (its documentation: warmup=25, rep=100, in ms): five calls estimate the time of
 * one, flush included; 25 ms of calls warm up, 100 ms are timed, one call per sample. Asked again, warm-up and estimate
 * included, until all samples together are as narrow as the budget wants.
 */
export async function doBench(prepared: Sampled, mode: Mode, { relativeCi, limitSeconds }: Budget): Promise<Spent> {
  const tally = new Tally(prepared, mode, 1)
  const [warmupSeconds, repSeconds] = [0.025, 0.1]
  do {
    const estimate = await tally.take(5, false)
    // Five calls here also pay for one crossing into the addon; the warm-up, which is longer, tells what one costs.
    const { secondsEach } = await tally.take(Math.max(1, Math.floor(warmupSeconds / estimate.secondsEach)), false)
    await tally.take(Math.max(1, Math.floor(repSeconds / secondsEach)))
  } while (tally.width() > relativeCi && tally.wallSeconds < limitSeconds)
  return tally.spent()
}

/** Noise estimates that nvbench looks back on, and how alike they must be for noise that falls no more. */
const NOISE_WINDOW = 512
const NOISE_LEAST = 64
const NOISE_STABLE = 0.05
const NOISE_EVERY = 16

/**
 * The rule `stdrel` of nvbench with its defaults (its documentation: max-noise 0.5 %, min-time 0.5 s, min-samples 10,
 * timeout 15 s). After at least 10 samples and 0.5 s of measured time it stops when the relative standard deviation of
 * the samples is below 0.5 %, or when that noise no longer changes: over the last 512 estimates its own deviation from
 * the present one is below 5 % (looked at every 16 samples). 15 s of wall time end it in any case. `narrow` is what it
 * has spent when it goes on past its own end until the interval of the median is as narrow as the budget wants.
 */
export async function nvbench(prepared: Sampled, mode: Mode, inner: number, { relativeCi, limitSeconds }: Budget): Promise<{ own: Spent; narrow: Spent }> {
  const tally = new Tally(prepared, mode, inner)
  const [maxNoise, minSeconds, minSamples] = [0.005, 0.5, 10]
  const noises: number[] = []
  let { secondsEach } = await tally.take(1, false)
  let [count, sum, squares, ended] = [0, 0, 0, false]
  let first: number | undefined

  const add = (ns: number) => {
    // Moments around the first sample keep their digits.
    first ??= ns
    count++
    sum += ns - first
    squares += (ns - first) ** 2
    if (count < 2) return
    const average = first + sum / count
    const noise = Math.sqrt(Math.max(0, squares - (sum * sum) / count) / (count - 1)) / average
    noises.push(noise)
    if (noises.length > NOISE_WINDOW) noises.shift()
    if (count < minSamples || (average * count * inner) / 1e9 <= minSeconds) return
    if (noise < maxNoise) ended = true
    else if (noises.length > NOISE_LEAST && count % NOISE_EVERY === 0) {
      const spread = Math.sqrt(noises.reduce((total, value) => total + (value - noise) ** 2, 0) / (noises.length - 1))
      if (spread / noise < NOISE_STABLE) ended = true
    }
  }
  while (!ended && tally.wallSeconds < limitSeconds) {
    const batch = await tally.take(Math.max(1, Math.floor(BATCH_SECONDS / secondsEach)))
    secondsEach = batch.secondsEach
    for (const ns of batch.samplesNs) {
      add(ns)
      if (ended) break
    }
  }
  const own = tally.spent()
  while (tally.width() > relativeCi && tally.wallSeconds < limitSeconds) await tally.take(Math.max(1, Math.floor(BATCH_SECONDS / secondsEach)))
  return { own, narrow: tally.spent() }
}
