import type { BenchmarkCase } from '../case'
import { roundsRatioOver, standing, THRESHOLD, verdictOf, type Verdict } from '../compare'
import type { RoundPasses } from '../measure/result/rounds'
import type { Interval } from '../stats/bootstrap'
import { overRuns, studentInterval } from '../stats/summarize'
import { workOf } from './size'

/** A median time and its interval, where there is one. ns per call. */
export interface Timing {
  medianNs: number
  /** 95 % CI of the median. */
  ciLowNs?: number
  ciHighNs?: number
  /** What was measured in interleaved rounds: one of each run that it stands for. */
  rounds?: readonly RoundPasses[]
}

interface Repeated extends Timing {
  case: BenchmarkCase
  run?: number | undefined
}

/** Results by case and work, added one after the other: as caseId tells cases apart, without making a text of each, because this goes over all results of a session. */
export class CaseTimings<T extends Repeated> {
  readonly #works = new Map<string, T[][]>()
  readonly #cases: T[][] = []

  add(result: T): void {
    const { backend, impl, device, threads } = result.case
    const work = workOf(result.case)
    let own = this.#works.get(work)
    if (!own) this.#works.set(work, (own = []))
    const known = own.find(([first]) => first!.case.impl === impl && first!.case.backend === backend && first!.case.device === device && first!.case.threads === threads)
    if (known) known.push(result)
    else {
      const fresh = [result]
      own.push(fresh)
      this.#cases.push(fresh)
    }
  }

  /** One timing for each case, in the order in which cases were met. */
  all(): T[] {
    return this.#cases.map(timingOf)
  }

  /** The timings of the cases of each work: of those that a speedup is made of. */
  *byWork(): Generator<T[], void, void> {
    for (const own of this.#works.values()) yield own.map(timingOf)
  }
}

/**
 * One timing for each case: that of the results that stand for it (`standing` in core/compare), with all else from the last of them. Over several runs it is
 * the median of their medians with its interval (`overRuns`), as in comparisons; over two with Student's, which also holds both of theirs.
 */
export function overCases<T extends Repeated>(results: readonly T[]): T[] {
  const timings = new CaseTimings<T>()
  for (const result of results) timings.add(result)
  return timings.all()
}

const timingOf = <T extends Repeated>(results: readonly T[]): T => timingOver(results.length > 1 ? standing(results) : results)

function timingOver<T extends Timing>(runs: readonly T[]): T {
  const last = runs.at(-1)!
  const over = runs.length > 1 ? overRuns(runs.map(({ medianNs }) => medianNs)) : undefined
  if (!over) return last
  const { ciLowNs: _low, ciHighNs: _high, rounds: _rounds, ...rest } = last
  const interval = over.interval ?? ofTwo(runs)
  const rounds = runs.flatMap((run) => run.rounds ?? [])
  return { ...rest, medianNs: over.median, ciLowNs: interval.low, ciHighNs: interval.high, ...(rounds.length > 0 ? { rounds } : {}) } as T
}

function ofTwo(runs: readonly Timing[]): Interval {
  const { low, high } = studentInterval(runs.map(({ medianNs }) => Math.log(medianNs)))
  return { low: Math.min(low, ...runs.flatMap(({ ciLowNs }) => ciLowNs ?? [])), high: Math.max(high, ...runs.flatMap(({ ciHighNs }) => ciHighNs ?? [])) }
}

/** What paired rounds say, above 1 is faster; undefined where the two were not measured in the same rounds. */
function pairedRatio(side: Timing, base: Timing): RatioOfMedians | undefined {
  const found = side.rounds && base.rounds && roundsRatioOver(side.rounds, base.rounds)
  return found && { ratio: 1 / found.ratio, ...(found.interval ? { low: 1 / found.interval.high, high: 1 / found.interval.low } : {}) }
}

/** A ratio of medians and, where both have one, its interval. */
export interface RatioOfMedians {
  ratio: number
  low?: number
  high?: number
}

const log = Math.log

/** ln(median) with the distances to the ends of its interval; undefined without a positive interval around the median. */
function logInterval({ medianNs, ciLowNs, ciHighNs }: Timing): { below: number; above: number } | undefined {
  if (ciLowNs === undefined || ciHighNs === undefined || !(ciLowNs > 0) || !(ciHighNs > 0)) return undefined
  return { below: Math.max(0, log(medianNs / ciLowNs)), above: Math.max(0, log(ciHighNs / medianNs)) }
}

/**
 * How many times as fast `side` is as `base`: base median / side median, above 1 is faster. Its interval comes from the
 * intervals of both medians, not from samples: on ln(ratio) by the method of variance estimates recovery, which adds the
 * distances to the ends in quadrature (G. Y. Zou, A. Donner, "Construction of confidence limits about effect measures",
 * Statistics in Medicine 27, 2008). Comparisons of sessions bootstrap samples instead (core/compare). Where both were measured in the
 * same interleaved rounds, the ratio and its interval are those of the paired rounds, as in comparisons. Undefined without two positive medians.
 */
export function speedupOf(side: Timing, base: Timing): RatioOfMedians | undefined {
  if (!(side.medianNs > 0) || !(base.medianNs > 0)) return undefined
  const paired = pairedRatio(side, base)
  if (paired) return paired
  const ratio = base.medianNs / side.medianNs
  const [ofSide, ofBase] = [logInterval(side), logInterval(base)]
  if (!ofSide || !ofBase) return { ratio }
  return { ratio, low: ratio * Math.exp(-Math.hypot(ofBase.below, ofSide.above)), high: ratio * Math.exp(Math.hypot(ofBase.above, ofSide.below)) }
}

/** Whether `side` is faster than `base` by more than the threshold, from the interval of their speedup, without a correction for many cases. */
export const verdictBetween = (side: Timing, base: Timing): Verdict => verdictOfSpeedup(speedupOf(side, base))

/** The same of a speedup that is known. */
export function verdictOfSpeedup(speedup: RatioOfMedians | undefined): Verdict {
  return verdictOf(speedup?.low === undefined || speedup.high === undefined ? undefined : { low: 1 / speedup.high, high: 1 / speedup.low }, THRESHOLD)
}

/** Timings of the same work, the fastest first, as `speedupOf` compares them. */
export const fastestFirst = <T extends Timing>(timings: readonly T[]): T[] => [...timings].sort((a, b) => Math.log(pairedRatio(b, a)?.ratio ?? a.medianNs / b.medianNs))

/** A timing at so many threads, or rows. */
export interface ScaledTiming extends Timing {
  at: number
}

export interface ScalePoint<T extends ScaledTiming> {
  timing: T
  /** Against the smallest; the interval is absent where one of both has none. */
  gain: RatioOfMedians
  /** Gain at best: work shared by all threads at no cost, or more rows in the same time. */
  ideal: number
  /** Threads: gain / ideal (parallel efficiency). Rows: rate as a share of the best rate measured. */
  efficiency: number
}

const ascending = <T extends ScaledTiming>(timings: readonly T[]) => [...timings].filter((one) => one.at > 0 && one.medianNs > 0).sort((a, b) => a.at - b.at)

/**
 * Strong scaling: the same work on more threads. Speedup over the fewest threads measured and parallel efficiency, which
 * is the speedup as a share of the threads added (V. Kumar et al., "Introduction to Parallel Computing", 2003, section
 * 5.2), here relative to the fewest threads where one thread was not measured.
 */
export function threadScaling<T extends ScaledTiming>(timings: readonly T[]): ScalePoint<T>[] {
  const sorted = ascending(timings)
  const [first] = sorted
  if (!first) return []
  return sorted.map((timing) => {
    const gain = timing === first ? { ratio: 1 } : speedupOf(timing, first)!
    const ideal = timing.at / first.at
    return { timing, gain, ideal, efficiency: gain.ratio / ideal }
  })
}

/** Batching: more rows in one call. Rows per second over those of the smallest batch, and as a share of the best batch. */
export function batchScaling<T extends ScaledTiming>(timings: readonly T[]): ScalePoint<T>[] {
  const points = threadScaling(timings).map((point) => {
    const { ratio, low, high } = point.gain
    const gain = { ratio: ratio * point.ideal, ...(low === undefined || high === undefined ? {} : { low: low * point.ideal, high: high * point.ideal }) }
    return { ...point, gain }
  })
  const best = points.reduce((top, point) => Math.max(top, point.gain.ratio), 0)
  return points.map((point) => ({ ...point, efficiency: point.gain.ratio / best }))
}
