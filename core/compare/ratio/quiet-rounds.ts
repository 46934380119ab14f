import { clusteredMean, type ClusteredMean } from '../../stats/clustered'
import { median, standardDeviation } from '../../stats/descriptive'
import { studentQuantile } from '../../stats/significance'

/** A round that both sides were measured in: logarithms of their times, and the pass it belongs to. */
export interface PairedRound {
  own: number
  other: number
  pass: number
}

export interface QuietRatio extends ClusteredMean {
  /** Half width of the 95 % interval of the logarithm. */
  half: number
  /** Rounds that count. */
  rounds: number
}

/** Rounds, and passes that they come from, of which there is an interval. */
const MIN_ROUNDS = 8
const MIN_PASSES = 4
/** The quiet level is the time of the round in this place in the order of time: two freak ones do not set it. */
const LEVEL_PLACE = 3
/** How much longer than the quiet level the rounds take that count, in the logarithm: at most the first of these that says enough. */
const STEPS = [0.015, 0.03, 0.06, 0.12]
/** How much longer than its own time in the round of this place either side usually takes in quiet rounds, at most. */
const OWN_STEP = 0.08
const OWN_PLACE = 2
/** Half width of an interval that is enough: that of grade A. */
export const ENOUGH = 0.01

/**
 * The log ratio of two implementations from the rounds in which the host was quiet for both; undefined where these are too few. Other programs, and other
 * guests on the sibling of a hyperthread, lengthen two kernels by different factors, and by others from one burst to the next, while quiet bursts of one kernel
 * are within half a percent of each other. How busy a round was is told by the geometric mean of both times, which does not say which side was faster, so the choice
 * favours none. Of the rounds within 1.5 % of the quiet level, 3, 6 and 12 %, the first that have an interval within ±1 % count, else those whose interval is
 * narrowest. Rounds in which one side was quiet and the other busy take the least time where there is no better one: they do not count, because this other side
 * then takes longer than it can.
 */
export function quietRatio(rounds: readonly PairedRound[]): QuietRatio | undefined {
  if (rounds.length < MIN_ROUNDS) return undefined
  const level = inPlace(rounds.map(busyness), LEVEL_PLACE)
  const own = inPlace(rounds.map((round) => round.own), OWN_PLACE)
  const other = inPlace(rounds.map((round) => round.other), OWN_PLACE)
  const isQuiet = (some: readonly PairedRound[]) => median(some.map((round) => round.own))! - own <= OWN_STEP && median(some.map((round) => round.other))! - other <= OWN_STEP
  let best: QuietRatio | undefined
  for (const step of STEPS) {
    const some = rounds.filter((round) => busyness(round) <= level + step)
    if (some.length < MIN_ROUNDS || new Set(some.map(({ pass }) => pass)).size < MIN_PASSES || !isQuiet(some)) continue
    const mean = clusteredMean(some.map(logRatio), some.map(({ pass }) => pass))!
    const half = studentQuantile(0.025, mean.degrees) * mean.error
    if (!best || half < best.half) best = { ...mean, half, rounds: some.length }
    if (half <= ENOUGH) break
  }
  return best
}

const logRatio = ({ own, other }: PairedRound) => own - other
const busyness = ({ own, other }: PairedRound) => (own + other) / 2
const inPlace = (values: readonly number[], place: number) => values.toSorted((a, b) => a - b)[place - 1]!

/** Up to so much above the quiet level a round is compared with those that are busier. */
const QUIET = 0.03
/** Share left out at each end before the spread of all rounds is taken: that of a normal distribution then is 0.66 of what it was. The median's standard error is 1.25 of the mean's. */
const TRIM = 0.1
const TRIMMED_SPREAD = 0.66
const MEDIAN_ERROR = 1.25

/**
 * How far the quietest rounds, few as they may be, lie from an estimate that rests on all: 0 where chance explains it. Of a host that is busy nearly always, the
 * ratio of a busy one is told, and by how much another it is when quiet.
 */
export function quietDistance(rounds: readonly PairedRound[], estimate: number): number {
  if (rounds.length < MIN_ROUNDS) return 0
  const level = inPlace(rounds.map(busyness), LEVEL_PLACE)
  const quiet = rounds.filter((round) => busyness(round) <= level + QUIET).map(logRatio)
  const ascending = rounds.map(logRatio).sort((a, b) => a - b)
  const cut = Math.floor(TRIM * ascending.length)
  const chance = ((MEDIAN_ERROR / TRIMMED_SPREAD) * standardDeviation(ascending.slice(cut, ascending.length - cut))!) / Math.sqrt(quiet.length)
  const distance = Math.abs(median(quiet)! - estimate)
  return distance > chance ? distance : 0
}
