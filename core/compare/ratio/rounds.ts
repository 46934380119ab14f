import { MIN_PASSES, type Pass, type RoundPasses } from '../../measure/result/rounds'
import type { Grade } from '../../result'
import { mean } from '../../stats/descriptive'
import { meanRatio } from '../../stats/mean-ratio'
import { studentQuantile } from '../../stats/significance'
import { MIN_RUNS, studentInterval } from '../../stats/summarize'
import { formatHalfWidth } from '../../units'
import { HELD_UP, intervalAt, quadRatio, type InterleavedRatio } from './interleave'
import { ENOUGH, quietDistance, quietRatio, type PairedRound, type QuietRatio } from './quiet-rounds'
import type { RatioEstimate } from './ratio'

/** Ratios by side and base: a session is asked again for those it has whenever a result is added. */
const known = new WeakMap<RoundPasses, WeakMap<RoundPasses, { ratio: InterleavedRatio | undefined }>>()

/**
 * `side` over `base` from the interleaved rounds that both were measured in; undefined where there is no pass with both. An even
 * round goes through the implementations in order and the next one back, so a drift of the machine within a pass cancels. The estimate comes from the quiet ones among the
 * rounds that were interrupted on neither side (quiet-rounds.ts), or from passes, where these say more. Every speedup of rounds is this one: those of the answer, tables, charts,
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

/** A pass of both sides. */
interface Paired {
  own: Pass
  other: Pass
  interrupted: boolean
}

const logRatio = ({ own, other }: Paired) => Math.log(own.ns / other.ns)

function pairedRatio(side: RoundPasses, base: RoundPasses): InterleavedRatio | undefined {
  const below = new Map(base.passes.map((pass) => [pass.first, pass]))
  const all = side.passes.flatMap((own): Paired[] => {
    const other = below.get(own.first)
    return other ? [{ own, other, interrupted: own.interrupted || other.interrupted }] : []
  })
  if (all.length === 0) return undefined
  const rounds = all.length < MIN_PASSES ? [] : all.flatMap(pairedRounds)
  const quiet = quietRatio(rounds)
  if (quiet && quiet.half <= ENOUGH) return ofQuiet(quiet)
  const passes = passesRatio(all)
  const reaching = reachingTo(passes, quietDistance(rounds, Math.log(passes.ratio)))
  return quiet && !(halfWidth(reaching) <= quiet.half) ? ofQuiet(quiet) : reaching
}

/** The rounds of a pass that neither side was interrupted in. */
function pairedRounds({ own, other }: Paired): PairedRound[] {
  const below = new Map(other.clean.map((round, i) => [round, other.cleanNs[i]!]))
  return own.clean.flatMap((round, i) => {
    const ns = below.get(round)
    return ns === undefined ? [] : [{ own: Math.log(own.cleanNs[i]!), other: Math.log(ns), pass: own.first }]
  })
}

const intervalAround = (log: number, half: number) => ({ low: Math.exp(log - half), high: Math.exp(log + half) })

const ofQuiet = ({ estimate, half, error, degrees, rounds }: QuietRatio): InterleavedRatio => ({ ratio: Math.exp(estimate), interval: intervalAround(estimate, half), logError: error, degrees, quads: Math.floor(rounds / 2) })

/** Half width of an interval in the logarithm, on its wider side; NaN where there is none. */
const halfWidth = ({ ratio, interval }: RatioEstimate) => (interval ? Math.log(Math.max(interval.high / ratio, ratio / interval.low)) : NaN)

/** The ratio with an interval that reaches at least so far in the logarithm. */
function reachingTo(found: InterleavedRatio, half: number): InterleavedRatio {
  if (!found.interval || found.degrees === undefined || !(halfWidth(found) < half)) return found
  return { ...found, interval: intervalAround(Math.log(found.ratio), half), logError: half / studentQuantile(0.025, found.degrees) }
}

/**
 * The ratio from passes: each, known by its first round, gives one, of the lower deciles of its samples. The estimate is the 20 % trimmed mean of their logarithms with an
 * interval from resampling passes: they differ by where tensors lie and by what the host did meanwhile.
 */
function passesRatio(all: readonly Paired[]): InterleavedRatio {
  // Passes in which a side was never let through count where too few others are left, unless they took far longer.
  const quiet = all.filter(({ interrupted }) => !interrupted)
  const [best, bestOther] = [Math.min(...all.map(({ own }) => own.ns)), Math.min(...all.map(({ other }) => other.ns))]
  const usual = all.filter(({ own, other, interrupted }) => !interrupted || (own.ns <= HELD_UP * best && other.ns <= HELD_UP * bestOther))
  const passes = comparable(quiet.length >= MIN_PASSES ? quiet : usual.length > 0 ? usual : all)
  return {
    ...quadRatio(passes.map(logRatio), MIN_PASSES),
    quads: passes.reduce((sum, { own, other }) => sum + Math.floor(Math.min(own.rounds, other.rounds) / 2), 0),
  }
}

/** How much longer than the shortest pass a quiet one takes at most, and the share of passes that are quiet at least. */
const QUIET_WITHIN = 0.03
const QUIET_SHARE = 0.5
/** The others count too unless their ratios lie so much further from the mean of the quiet ones: in mean squares. */
const FURTHER = 4

/**
 * The passes that count: the quiet ones alone where the ratio is another while the host is busy, else all. What else runs on a host changes the ratio of
 * two kernels, not only their times. Quiet passes are those with the least geometric mean of both times, which says nothing of which side was faster.
 */
function comparable(passes: readonly Paired[]): readonly Paired[] {
  const timeOf = ({ own, other }: Paired) => Math.sqrt(own.ns * other.ns)
  const times = passes.map(timeOf).sort((a, b) => a - b)
  const least = Math.min(passes.length, Math.max(MIN_PASSES, Math.ceil(passes.length * QUIET_SHARE)))
  const longest = Math.max(times[0]! * (1 + QUIET_WITHIN), times[least - 1]!)
  const [quiet, busy] = [passes.filter((pass) => timeOf(pass) <= longest), passes.filter((pass) => timeOf(pass) > longest)]
  if (busy.length < 2) return passes
  const usual = mean(quiet.map(logRatio))!
  const squares = (some: readonly Paired[], degrees: number) => some.reduce((sum, pass) => sum + (logRatio(pass) - usual) ** 2, 0) / degrees
  return squares(busy, busy.length) > FURTHER * squares(quiet, quiet.length - 1) ? quiet : passes
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
