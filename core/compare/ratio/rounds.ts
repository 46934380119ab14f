import { MIN_PASSES, type RoundPasses } from '../../measure/result/rounds'
import type { Grade } from '../../result'
import { mean } from '../../stats/descriptive'
import { meanRatio } from '../../stats/mean-ratio'
import { studentQuantile } from '../../stats/significance'
import { MIN_RUNS, studentInterval } from '../../stats/summarize'
import { formatHalfWidth } from '../../units'
import { HELD_UP, intervalAt, quadRatio, type InterleavedRatio } from './interleave'
import type { RatioEstimate } from './ratio'

/** Ratios by side and base: a session is asked again for those it has whenever a result is added. */
const known = new WeakMap<RoundPasses, WeakMap<RoundPasses, { ratio: InterleavedRatio | undefined }>>()

/**
 * `side` over `base` from the interleaved rounds that both were measured in; undefined where there is no pass with both. An even
 * round goes through the implementations in order and the next one back, so a drift of the machine within a pass cancels. Each pass, known
 * by its first round, gives one ratio, of the lower deciles of its samples. The estimate is the 20 % trimmed mean of their logarithms with an interval from
 * resampling passes: they differ by where tensors lie and by what the host did meanwhile. Every speedup of rounds is this one: those of the answer, tables, charts,
 * reports and comparisons.
 */
export function roundsRatio(side: RoundPasses | undefined, base: RoundPasses | undefined): InterleavedRatio | undefined {
  if (!side || side.group !== base?.group) return undefined
  const own = known.get(side) ?? new WeakMap<RoundPasses, { ratio: InterleavedRatio | undefined }>()
  known.set(side, own)
  const found = own.get(base) ?? { ratio: pairedRatio(side, base) }
  own.set(base, found)
  return found.ratio
}

function pairedRatio(side: RoundPasses, base: RoundPasses): InterleavedRatio | undefined {
  const below = new Map(base.passes.map((pass) => [pass.first, pass]))
  const all = side.passes.flatMap((own) => {
    const other = below.get(own.first)
    return other ? [{ own, other, interrupted: own.interrupted || other.interrupted }] : []
  })
  if (all.length === 0) return undefined
  // Passes in which a side was never let through count where too few others are left, unless they took far longer.
  const quiet = all.filter(({ interrupted }) => !interrupted)
  const [best, bestOther] = [Math.min(...all.map(({ own }) => own.ns)), Math.min(...all.map(({ other }) => other.ns))]
  const usual = all.filter(({ own, other, interrupted }) => !interrupted || (own.ns <= HELD_UP * best && other.ns <= HELD_UP * bestOther))
  const passes = quiet.length >= MIN_PASSES ? quiet : usual.length > 0 ? usual : all
  return {
    ...quadRatio(passes.map(({ own, other }) => Math.log(own.ns / other.ns)), MIN_PASSES),
    quads: passes.reduce((sum, { own, other }) => sum + Math.floor(Math.min(own.rounds, other.rounds) / 2), 0),
  }
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
 * The same over several runs of a sweep, whose processes are independent: each run's ratio is one value, and runs that only one side has left do not
 * count. Two runs have Student's interval with one degree of freedom, no narrower than their own intervals allow. Undefined where no run of both was measured in the same rounds.
 */
export function roundsRatioOver(sides: readonly (RoundPasses | undefined)[], bases: readonly (RoundPasses | undefined)[]): (InterleavedRatio & { runs: number }) | undefined {
  const ratios = sides.flatMap((side) => roundsRatio(side, bases.find((base) => base && base.group === side?.group)) ?? [])
  const [only] = ratios
  if (!only) return undefined
  if (ratios.length === 1) return { ...only, runs: 1 }
  const logs = ratios.map(({ ratio }) => Math.log(ratio))
  return { ...(ratios.length < MIN_RUNS ? ofTwo(ratios, logs) : quadRatio(logs, MIN_RUNS)), quads: ratios.reduce((sum, { quads }) => sum + quads, 0), runs: ratios.length }
}

function ofTwo(ratios: readonly RatioEstimate[], logs: readonly number[]): RatioEstimate {
  const ratio = Math.exp(mean(logs)!)
  const over = studentInterval(logs)
  const within = meanRatio(ratios.map((one) => ({ ratio: one.ratio, ...one.interval })))
  const half = Math.log(Math.max(over.high / ratio, (within?.high ?? ratio) / ratio, ratio / (within?.low ?? ratio)))
  return { ratio, interval: { low: ratio / Math.exp(half), high: ratio * Math.exp(half) }, logError: half / studentQuantile(0.025, 1), degrees: 1 }
}

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
