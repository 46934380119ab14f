import { THRESHOLD } from '../compare/types'
import { verdictOf } from '../compare/ratio/verdict'
import { speedupOf, type Timing } from './timing'

/** One measured size of a series, in elements. */
export interface SizedTiming extends Timing {
  size: number
}

/** Where one series starts to beat another along size. */
export interface Crossover {
  /** `a` is slower below the size and faster above it, or `b` is. */
  winner: 'a' | 'b'
  /** Elements, interpolated. */
  size: number
  /** Time of both there, ns. */
  ns: number
  /** Sizes between which the order is not certain. */
  low: number
  high: number
}

/** The crossovers of two series. `unclear`: medians change order somewhere, but there is no crossover whose sides are clear. */
export interface Crossovers {
  found: Crossover[]
  unclear: boolean
}

interface Gap {
  /** ln(size) */
  x: number
  /** ln of how many times as fast a is as b, with its interval; the interval is the value itself where there is none. */
  value: number
  low: number
  high: number
  /** ln(ns) of a. */
  ns: number
  /** Which of both is faster by the rule of every comparison; absent: neither is for certain. */
  faster?: 'a' | 'b'
}

/** Where a line through two points is zero. */
const zeroBetween = (x1: number, y1: number, x2: number, y2: number) => x1 + ((x2 - x1) * y1) / (y1 - y2)

const lerp = (from: number, to: number, share: number) => from + (to - from) * share

/**
 * Sizes at which two series change places, in order of size. One is told only between sizes at which the verdict is clear, first for one
 * and then for the other: the 95 % CI of the ratio lies beyond `threshold` (core/compare/ratio/verdict.ts). Sizes in between may be unclear.
 * Between neighbouring sizes that both measured, times are taken as straight lines of ln(time) over ln(size), as power laws are; the
 * series cross where the difference of the lines is zero, for the last time before the winner is clear. The interval of the crossing is
 * where the 95 % band of that difference, interpolated in the same way, includes zero (the set of sizes at which equality is not
 * rejected: Fieller's construction, E. C. Fieller, JRSS B 16, 1954).
 */
export function crossovers(a: readonly SizedTiming[], b: readonly SizedTiming[], threshold = THRESHOLD): Crossovers {
  const gaps = gapsOf(a, b, threshold)
  const found: Crossover[] = []
  let before: number | undefined
  gaps.forEach(({ faster }, i) => {
    if (!faster) return
    if (before !== undefined && gaps[before]!.faster !== faster) found.push(crossing(gaps, before, i))
    before = i
  })
  const signs = new Set(gaps.map(({ value }) => Math.sign(value)).filter((sign) => sign !== 0))
  return { found, unclear: found.length === 0 && signs.size > 1 }
}

function gapsOf(a: readonly SizedTiming[], b: readonly SizedTiming[], threshold: number): Gap[] {
  const ofB = new Map(b.map((one) => [one.size, one]))
  return a
    .flatMap((one): Gap[] => {
      const other = ofB.get(one.size)
      const speedup = other && speedupOf(one, other)
      if (!speedup || !(one.size > 0)) return []
      const { ratio, low = ratio, high = ratio } = speedup
      const verdict = speedup.low === undefined || speedup.high === undefined ? 'ambiguous' : verdictOf({ low: 1 / speedup.high, high: 1 / speedup.low }, threshold)
      return [{ x: Math.log(one.size), value: Math.log(ratio), low: Math.log(low), high: Math.log(high), ns: Math.log(one.medianNs), ...(verdict === 'faster' ? { faster: 'a' } : verdict === 'slower' ? { faster: 'b' } : {}) }]
    })
    .sort((p, q) => p.x - q.x)
}

/** Between two sizes at which the order is clear, and not the same. */
function crossing(gaps: readonly Gap[], clear: number, clearAgain: number): Crossover {
  const rising = gaps[clearAgain]!.faster === 'a'
  const sign = rising ? 1 : -1
  let from = clearAgain - 1
  while (from > clear && gaps[from]!.value * sign >= 0) from--
  let to = from + 1
  while (gaps[to]!.value === 0) to++
  // Sizes with equal times lie between both: the series cross in their middle.
  const ends = [from, to - 1].map((i) => {
    const [left, right] = [gaps[i]!, gaps[i + 1]!]
    const x = zeroBetween(left.x, left.value, right.x, right.value)
    return { x, ns: lerp(left.ns, right.ns, (x - left.x) / (right.x - left.x)) }
  })
  const middle = (of: (end: { x: number; ns: number }) => number) => Math.exp((of(ends[0]!) + of(ends[1]!)) / 2)
  // Where a is overtaking, it may be faster as soon as the upper end is above zero, and is for sure when the lower end is.
  const first = (gap: Gap) => (rising ? gap.high : -gap.low)
  const sure = (gap: Gap) => (rising ? gap.low : -gap.high)
  let below = from
  while (below > clear && first(gaps[below]!) >= 0) below--
  let above = to
  while (above < clearAgain && sure(gaps[above]!) <= 0) above++
  const zero = (end: (gap: Gap) => number, i: number) => Math.exp(zeroBetween(gaps[i]!.x, end(gaps[i]!), gaps[i + 1]!.x, end(gaps[i + 1]!)))
  return { winner: rising ? 'a' : 'b', size: middle(({ x }) => x), ns: middle(({ ns }) => ns), low: zero(first, below), high: zero(sure, above - 1) }
}

/** `avx2 beats scalar from 312 (260 to 390) elements`. `format` writes a size. */
export function crossoverSentence({ winner, size, low, high }: Crossover, a: string, b: string, format: (size: number) => string): string {
  const [first, second] = winner === 'a' ? [a, b] : [b, a]
  return `${first} beats ${second} from ${format(size)} (${format(low)} to ${format(high)}) elements`
}
