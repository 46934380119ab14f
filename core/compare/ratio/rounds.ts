import { MIN_PASSES, passTimes } from '../../measure/result/rounds'
import type { Grade, Result } from '../../result'
import { formatHalfWidth } from '../../units'
import { intervalAt, quadRatio, type InterleavedRatio } from './interleave'
import type { RatioEstimate } from './ratio'

type Rounds = Pick<Result, 'samplesNs' | 'rounds' | 'deviceStates'>

/**
 * `side` over `base` from the interleaved rounds that both were measured in; undefined where there is no pass with both. An even
 * round goes through the implementations in order and the next one back, so a drift of the machine within a pass cancels. Each pass gives
 * one ratio, of the lower deciles of its samples. The estimate is the 20 % trimmed mean of their logarithms with an interval from
 * resampling passes: they differ by where tensors lie and by what the host did meanwhile.
 */
export function roundsRatio(side: Rounds, base: Rounds): InterleavedRatio | undefined {
  if (!side.rounds || side.rounds.group !== base.rounds?.group) return undefined
  const [above, below] = [passTimes(side), passTimes(base)]
  const all = [...above].flatMap(([pass, { ns, rounds, interrupted }]) => {
    const other = below.get(pass)
    return other ? [{ log: Math.log(ns / other.ns), quads: Math.floor(Math.min(rounds, other.rounds) / 2), interrupted: interrupted || other.interrupted }] : []
  })
  if (all.length === 0) return undefined
  // Passes in which a side was never let through count where too few others are left.
  const quiet = all.filter(({ interrupted }) => !interrupted)
  const passes = quiet.length >= MIN_PASSES ? quiet : all
  return { ...quadRatio(passes.map(({ log }) => log), MIN_PASSES), quads: passes.reduce((sum, { quads }) => sum + quads, 0) }
}

/**
 * Error rate of the interval that ends rounds early: asked after every pass, and of few passes, an interval is narrow by chance now and then.
 */
const EARLY_ALPHA = 0.02

/** Whether a ratio needs no more passes: an interval of 98 % is within ± `relativeCi`. */
export function roundsSettled(ratio: RatioEstimate | undefined, relativeCi: number): boolean {
  const wider = ratio && intervalAt(ratio, EARLY_ALPHA)
  return wider !== undefined && Math.max(wider.high / ratio!.ratio, ratio!.ratio / wider.low) - 1 <= relativeCi
}

/**
 * The same over several runs of a sweep, whose processes are independent: each run's ratio is one value. Undefined unless every run
 * of both was measured in rounds. `sides` and `bases` are the results of the runs in order.
 */
export function roundsRatioOver(sides: readonly Rounds[], bases: readonly Rounds[]): InterleavedRatio | undefined {
  if (sides.length !== bases.length) return undefined
  const found = sides.map((side, i) => roundsRatio(side, bases[i]!))
  const ratios = found.filter((ratio) => ratio !== undefined)
  if (ratios.length < found.length || ratios.length === 0) return undefined
  const quads = ratios.reduce((sum, one) => sum + one.quads, 0)
  return ratios.length === 1 ? ratios[0] : { ...quadRatio(ratios.map(({ ratio }) => Math.log(ratio)), MIN_RUNS), quads }
}

/** Runs that have an interval. */
const MIN_RUNS = 3

/** Half widths of the 95 % CI up to which a speedup is graded A, and B. */
const A_WITHIN = 0.01
const B_WITHIN = 0.03

/**
 * Grade of a ratio by the half width of its 95 % CI: A within ±1 %, B within ±3 %, else C. `sides` are the grades of both times, where the
 * ratio rests on them: it is then no better than either. A ratio of paired rounds has none, because noise of the machine is in both.
 */
export function ratioGrade({ ratio, interval }: RatioEstimate, sides: readonly (Grade | undefined)[] = []): { grade: Grade; reason: string } {
  if (!interval) return { grade: 'C', reason: 'No CI: too few rounds or samples.' }
  const half = Math.max(Math.log(interval.high / ratio), Math.log(ratio / interval.low))
  const own: Grade = half <= A_WITHIN ? 'A' : half <= B_WITHIN ? 'B' : 'C'
  const worst = [own, ...sides.filter((grade) => grade !== undefined)].sort().at(-1)!
  return { grade: worst, reason: worst === own ? `95 % CI ${formatHalfWidth(half)}.` : `A time it rests on is graded ${worst}.` }
}
