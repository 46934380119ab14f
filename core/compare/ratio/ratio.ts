import { MIN_INTERVAL_SAMPLES, resampledMedians, type Interval } from '../../stats/bootstrap'
import { overRuns } from '../../stats/summarize'
import { quantileOfSorted, sorted, standardDeviation } from '../../stats/descriptive'
import { createRandom, type Random } from '../../stats/random'
import { serialFactor } from '../../stats/serial'
import { studentQuantile } from '../../stats/significance'

/** A ratio of times or cycles and how well it is known. */
export interface RatioEstimate {
  ratio: number
  /** 95 % CI; absent where there is too little to tell. */
  interval?: Interval
  /** Standard error of ln(ratio), with the degrees of freedom it has; given with the interval. */
  logError?: number
  degrees?: number
}

/** The logarithm of a figure of one side, and how well it is known. */
export interface LogEstimate {
  log: number
  runs: number
  /** Variance of `log`, and the degrees of freedom behind it. */
  variance: number
  degrees: number
}

/** What is known of the typical time of one side: `log` is of the median; of several runs, of the median of their medians, as overRuns (core/stats/summarize.ts) gives it. */
export interface Side extends LogEstimate {
  /** Draws of `log` that the samples allow; absent when one run has too few samples. */
  draws?: Float64Array
}

const RESAMPLES = 1000
const NORMAL_975 = 1.959964

const oneOf = <T>(list: ArrayLike<T>, random: Random): T => list[Math.min(list.length - 1, Math.floor(random() * list.length))]!
const varianceOf = (values: Float64Array) => standardDeviation(values)! ** 2

/**
 * One side from its runs, each the samples of one process in the order taken. One run: resampled medians (core/stats),
 * stretched where neighbouring samples depend on each other (core/stats/serial.ts). Several runs: the hierarchical bootstrap, which
 * draws runs, a median within each anew however often a run is drawn, and takes the median of those (Davison and Hinkley 1997,
 * section 3.8; Kalibera and Jones 2013 for why the run is the unit). Undefined when a run is empty, not finite, or has a median of zero.
 */
export function sideOf(runs: readonly ArrayLike<number>[], seed: number): Side | undefined {
  const random = createRandom(seed)
  const parts: { log: number; draws: Float64Array; degrees: number; known: boolean }[] = []
  for (const samples of runs) {
    const ascending = sorted(samples)
    const log = ascending ? Math.log(quantileOfSorted(ascending, 0.5)) : NaN
    if (!ascending || !Number.isFinite(log)) return undefined
    const known = ascending.length >= MIN_INTERVAL_SAMPLES
    const draws = known ? resampledMedians(ascending, RESAMPLES, random).map(Math.log) : new Float64Array(RESAMPLES).fill(log)
    const serial = known ? serialFactor(samples, quantileOfSorted(ascending, 0.5)) : undefined
    parts.push({ log, known, degrees: serial?.degrees ?? Infinity, draws: serial ? draws.map((draw) => log + (draw - log) * serial.factor) : draws })
  }
  const count = parts.length
  const [only] = parts
  if (!only) return undefined
  if (count === 1) {
    if (!only.known) return { log: only.log, runs: 1, variance: 0, degrees: Infinity }
    return { log: only.log, runs: 1, draws: only.draws, variance: varianceOf(only.draws), degrees: only.degrees }
  }
  const drawn = new Float64Array(count)
  const draws = Float64Array.from({ length: RESAMPLES }, () => {
    for (let j = 0; j < count; j++) drawn[j] = oneOf(oneOf(parts, random).draws, random)
    return quantileOfSorted(drawn.sort(), 0.5)
  })
  // A bootstrap of few runs is too narrow by (n - 1) / n.
  return { log: Math.log(overRuns(parts.map((part) => Math.exp(part.log)))!.median), runs: count, draws, variance: (varianceOf(draws) * count) / (count - 1), degrees: count - 1 }
}

/**
 * side / base with its 95 % CI: percentiles of the differences of the draws, whose distances from the ratio are
 * stretched to the variance and to Student's t with the degrees of freedom that few runs leave (Welch 1947 for two sides).
 * A side with one run says nothing of how runs differ, so where the other side has several it is taken to vary like that one.
 */
export function ratioOf(side: Side, base: Side): RatioEstimate {
  const log = side.log - base.log
  const ratio = Math.exp(log)
  if (!side.draws || !base.draws) return { ratio }
  const { variance, degrees, t } = spreadOf(side, base)
  const differences = side.draws.map((draw, i) => draw - base.draws![i]!)
  if (!differences.every(Number.isFinite)) return { ratio }
  const drawn = varianceOf(differences)
  if (!(drawn > 0)) return ratioByStudent(side, base)
  const stretch = (t / NORMAL_975) * Math.sqrt(variance / drawn)
  differences.sort()
  const away = (q: number) => (quantileOfSorted(differences, q) - log) * stretch
  return { ratio, interval: { low: Math.exp(log + away(0.025)), high: Math.exp(log + away(0.975)) }, logError: Math.sqrt(variance), degrees }
}

/** side / base with Student's 95 % CI of ln(ratio), for figures that have a variance and no samples. Without an interval where a variance is not a number. */
export function ratioByStudent(side: LogEstimate, base: LogEstimate): RatioEstimate {
  const log = side.log - base.log
  const { variance, degrees, t } = spreadOf(side, base)
  if (Number.isNaN(variance)) return { ratio: Math.exp(log) }
  const half = t * Math.sqrt(variance)
  return { ratio: Math.exp(log), interval: { low: Math.exp(log - half), high: Math.exp(log + half) }, logError: Math.sqrt(variance), degrees }
}

/** Variance of ln(side / base), its degrees of freedom (Welch), and the t of a 95 % CI. */
function spreadOf(side: LogEstimate, base: LogEstimate): { variance: number; degrees: number; t: number } {
  const [top, bottom] = [withRunVariance(side, base), withRunVariance(base, side)]
  const variance = top.variance + bottom.variance
  const degrees = variance > 0 ? variance ** 2 / (top.variance ** 2 / top.degrees + bottom.variance ** 2 / bottom.degrees) : Infinity
  return { variance, degrees, t: degrees === Infinity ? NORMAL_975 : studentQuantile(0.025, degrees) }
}

/** The variance of a side; that of a single run plus what one run of the other side would vary: at most its variance times its runs. */
function withRunVariance(side: LogEstimate, other: LogEstimate): { variance: number; degrees: number } {
  if (side.runs > 1 || other.runs === 1) return side
  return { variance: side.variance + other.variance * other.runs, degrees: other.degrees }
}
