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
  /** Sizes between which the order is not certain; an end is absent where the measured sizes do not reach certainty. */
  low?: number
  high?: number
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
  known: boolean
}

/** Where a line through two points is zero. */
const zeroBetween = (x1: number, y1: number, x2: number, y2: number) => x1 + ((x2 - x1) * y1) / (y1 - y2)

const lerp = (from: number, to: number, share: number) => from + (to - from) * share

/**
 * Sizes at which two series change places. Between neighbouring sizes that both measured, times are taken as straight
 * lines of ln(time) over ln(size), as power laws are; the series cross where the difference of the lines is zero.
 * The interval of the crossing is where the 95 % band of that difference, interpolated in the same way, includes zero
 * (the set of sizes at which equality is not rejected: Fieller's construction, E. C. Fieller, JRSS B 16, 1954).
 * Sizes at which both are exactly equal count with the next that tells them apart. In order of size.
 */
export function crossovers(a: readonly SizedTiming[], b: readonly SizedTiming[]): Crossover[] {
  const gaps = gapsOf(a, b)
  const found: Crossover[] = []
  let before: number | undefined
  gaps.forEach((gap, i) => {
    if (gap.value === 0) return
    const last = before === undefined ? undefined : gaps[before]!
    if (last && Math.sign(last.value) !== Math.sign(gap.value)) found.push(crossing(gaps, before!, i))
    before = i
  })
  return found
}

function gapsOf(a: readonly SizedTiming[], b: readonly SizedTiming[]): Gap[] {
  const ofB = new Map(b.map((one) => [one.size, one]))
  return a
    .flatMap((one): Gap[] => {
      const other = ofB.get(one.size)
      const speedup = other && speedupOf(one, other)
      if (!speedup || !(one.size > 0)) return []
      const { ratio, low = ratio, high = ratio } = speedup
      return [{ x: Math.log(one.size), value: Math.log(ratio), low: Math.log(low), high: Math.log(high), ns: Math.log(one.medianNs), known: speedup.low !== undefined }]
    })
    .sort((p, q) => p.x - q.x)
}

function crossing(gaps: readonly Gap[], from: number, to: number): Crossover {
  const [left, right] = [gaps[from]!, gaps[to]!]
  const x = zeroBetween(left.x, left.value, right.x, right.value)
  const rising = right.value > left.value
  const result: Crossover = { winner: rising ? 'a' : 'b', size: Math.exp(x), ns: Math.exp(lerp(left.ns, right.ns, (x - left.x) / (right.x - left.x))) }
  if (!gaps.some((gap) => gap.known)) return result
  // Where a is overtaking, it may be faster as soon as the upper end is above zero, and is for sure when the lower end is.
  const first = (gap: Gap) => (rising ? gap.high : -gap.low)
  const sure = (gap: Gap) => (rising ? gap.low : -gap.high)
  for (let i = from; i >= 0; i--) {
    if (first(gaps[i]!) < 0) {
      result.low = Math.exp(zeroBetween(gaps[i]!.x, first(gaps[i]!), gaps[i + 1]!.x, first(gaps[i + 1]!)))
      break
    }
  }
  for (let i = to; i < gaps.length; i++) {
    if (sure(gaps[i]!) > 0) {
      result.high = Math.exp(zeroBetween(gaps[i - 1]!.x, sure(gaps[i - 1]!), gaps[i]!.x, sure(gaps[i]!)))
      break
    }
  }
  return result
}

/** `avx2 beats scalar from 312 (260 to 390) elements`; an end that is not known is told in words. `format` writes a size. */
export function crossoverSentence({ winner, size, low, high }: Crossover, a: string, b: string, format: (size: number) => string): string {
  const range = low !== undefined && high !== undefined ? ` (${format(low)} to ${format(high)})` : high !== undefined ? ` (at most ${format(high)})` : low !== undefined ? ` (at least ${format(low)})` : ''
  const [first, second] = winner === 'a' ? [a, b] : [b, a]
  return `${first} beats ${second} from ${format(size)}${range} elements`
}
