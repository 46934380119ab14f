import { roundTimes } from '../../measure/result/rounds'
import type { Grade, Result } from '../../result'
import { formatPercent } from '../../units'
import { interleavedRatio, quadRatio, type Block, type InterleavedRatio } from './interleave'
import type { RatioEstimate } from './ratio'

type Rounds = Pick<Result, 'samplesNs' | 'rounds' | 'deviceStates'>

/**
 * `side` over `base` from the interleaved rounds that both were measured in; undefined where there is no such pair of rounds. An even
 * round goes through the implementations in order and the next one back, so two rounds are an ABBA quad of any two of them, and a
 * drift of the machine cancels.
 */
export function roundsRatio(side: Rounds, base: Rounds): InterleavedRatio | undefined {
  if (!side.rounds || side.rounds.group !== base.rounds?.group) return undefined
  const block = (round: number, ns: number, even: number, odd: number): Block => ({ pair: '', quad: Math.floor(round / 2), place: round % 2 === 0 ? even : odd, samplesNs: [ns] })
  return interleavedRatio([
    ...[...roundTimes(base)].map(([round, ns]) => block(round, ns, 0, 3)),
    ...[...roundTimes(side)].map(([round, ns]) => block(round, ns, 1, 2)),
  ])
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
  return { grade: worst, reason: worst === own ? `95 % CI ±${formatPercent(half)}.` : `A time it rests on is graded ${worst}.` }
}
