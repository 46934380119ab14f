/** Chromium rounds timestamps to this many ns unless it is told not to. */
export const QUANTUM_NS = 65536

/** A timestamp in ns from the first one of its submission on, or undefined where the device wrote none. */
export type Mark = number | undefined

/**
 * Timestamps as the device wrote them, taken relative to the first. Some clocks count ns since 1970: as plain numbers
 * those would be rounded to 256 ns. 0 stands for a timestamp that was not written.
 */
export function marksIn(words: BigUint64Array): Mark[] {
  const first = words.find((word) => word !== 0n)
  return Array.from(words, (word) => (word === 0n || first === undefined ? undefined : Number(word - first)))
}

/** ns of a pass, or undefined where its marks make no sense. */
export type PassNs = number | undefined

/**
 * Time of each pass in ns, from (begin, end) pairs in the order the passes ran. A begin mark may be written while the
 * pass before still runs, so a pass counts from that pass's end where this is later: never more than really ran.
 * Undefined where a mark was not written or where time runs backwards, as some drivers let it after a wake-up.
 */
export function passTimes(marks: readonly Mark[]): PassNs[] {
  const times: PassNs[] = []
  let previousEnd = -Infinity
  for (let i = 0; 2 * i + 1 < marks.length; i++) {
    const [begin, end] = [marks[2 * i], marks[2 * i + 1]]
    const from = begin === undefined ? Infinity : Math.max(begin, previousEnd)
    times.push(end !== undefined && end >= from ? end - from : undefined)
    // After a jump backwards the clock counts on from there.
    previousEnd = end ?? previousEnd
  }
  return times
}

/** Times of a pass and of one with twice as many calls. What both have in common falls out of their difference. */
export interface PassPair {
  onceNs: number
  twiceNs: number
}

/** Pairs of passes that both have a time. */
export function pairsOf(passNs: readonly PassNs[]): PassPair[] {
  const pairs: PassPair[] = []
  for (let i = 0; i + 1 < passNs.length; i += 2) {
    const [onceNs, twiceNs] = [passNs[i], passNs[i + 1]]
    if (onceNs !== undefined && twiceNs !== undefined) pairs.push({ onceNs, twiceNs })
  }
  return pairs
}

/**
 * ns that a pass costs beside its calls: the median of 2 * t(N) - t(2N) over the pairs; undefined where noise hides it.
 */
export function passCost(passNs: readonly PassNs[]): number | undefined {
  const costs = Float64Array.from(pairsOf(passNs), ({ onceNs, twiceNs }) => 2 * onceNs - twiceNs).sort()
  const median = costs[Math.floor(costs.length / 2)]
  return median !== undefined && median > 0 ? median : undefined
}

/** Share of samples that are not above zero, from which on noise is larger than what was measured. */
const HOPELESS = 0.25

/** Whether so many differences are lost in noise that more calls are needed per pass. */
export function tooShort(samples: ArrayLike<number>): boolean {
  let lost = 0
  for (let i = 0; i < samples.length; i++) if (!(samples[i]! > 0)) lost++
  return lost > HOPELESS * samples.length
}

/** Timestamps rounded by Chromium: every one a multiple of the quantum. */
export const isQuantized = (marks: readonly number[]): boolean => marks.length > 0 && marks.every((mark) => mark % QUANTUM_NS === 0)

/** Timestamps are whole ns, so one of a clock whose period is not whole is off by up to this. */
const ROUNDING_NS = 1

/** The period of the clock behind these timestamps, in ns; at least 1. Fewer than two different marks tell nothing: 1. */
export function tickOf(marks: readonly number[]): number {
  const distinct = [...new Set(marks)].sort((a, b) => a - b)
  const steps = distinct.slice(1).map((mark) => mark - distinct[0]!)
  if (steps.length === 0) return 1
  const common = steps.reduce(divisor)
  const smallest = Math.min(...distinct.slice(1).map((mark, i) => mark - distinct[i]!))
  return common > ROUNDING_NS ? common : (fractionalPeriod(steps, smallest) ?? common)
}

/** A period near `smallest` that every step is a multiple of, but for rounding; longer steps pin it down better. */
function fractionalPeriod(steps: readonly number[], smallest: number): number | undefined {
  let period = smallest
  for (const step of steps) {
    const periods = Math.round(step / period)
    if (periods === 0 || Math.abs(step - periods * period) > 2 * ROUNDING_NS) return undefined
    period = step / periods
  }
  // Steps of a few ns are multiples of anything.
  return period > 8 * ROUNDING_NS ? period : undefined
}

function divisor(a: number, b: number): number {
  while (b > 0) [a, b] = [b, a % b]
  return a
}
