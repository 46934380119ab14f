import { caseId, type BenchmarkCase } from '../../case'
import { wasInterrupted } from '../../measure/result/rounds'
import type { MeasureSettings } from '../../measure/settings'
import type { Result } from '../../result'
import { resampledTrimmedMean, type Interval } from '../../stats/bootstrap'
import { median } from '../../stats/descriptive'
import { studentQuantile } from '../../stats/significance'
import { cyclesOf, runOf } from '../measured'
import type { RatioEstimate } from './ratio'
import { verdictOf } from './verdict'

/** Two cases to be measured interleaved (ABBA). In a self-check both are the same case. */
export interface Pair {
  /** Unique within its session; results carry it in `block.pair`. */
  id: string
  a: BenchmarkCase
  b: BenchmarkCase
}

/** The samples of one block: places 0 and 3 of a quad are side a, 1 and 2 side b (Result.block). */
export interface Block {
  pair: string
  quad: number
  place: number
  samplesNs: ArrayLike<number>
  /** SM clock in MHz beside each sample. */
  clocksMhz?: ArrayLike<number>
  /** Other programs took the processor away from its samples. */
  interrupted?: boolean
}

/** Side b over side a, from complete quads; no interval for fewer than INTERLEAVE.minQuads. */
export interface InterleavedRatio extends RatioEstimate {
  /** Complete quads behind the ratio. */
  quads: number
  /** The same in SM cycles, where every block of the quads used has clocks. */
  cycles?: RatioEstimate
}

/** How blocks are measured, and how many quads a pair gets: at least `minQuads`, at most `maxQuads`. */
export const INTERLEAVE: { settings: MeasureSettings; minQuads: number; maxQuads: number } = {
  settings: { rule: { id: 'fixed-time', seconds: 0.1 }, relativeCi: 0.01, minSamples: 5, minSeconds: 0, maxSeconds: 1, maxWarmupSeconds: 0.05, verifyWork: 1e7, seed: 20260101 },
  minQuads: 6,
  maxQuads: 40,
}

const PLACES = 4
/** Of an interrupted block or pass, how much longer than the best one of its side it may take and still count. */
export const HELD_UP = 2
const SEED = 0x0abba

/**
 * Side b over side a of one pair. Within an ABBA quad both sides have the same mean moment, so in the mean of the
 * logarithms of the block medians a linear drift cancels. The quad is the unit: the estimate is the 20 % trimmed mean of
 * the quads' log ratios, its interval comes from resampling quads (core/stats/bootstrap.ts). Quads with a missing
 * block, one without a usable median, or one that was held up are left out; undefined when none is left.
 */
export function interleavedRatio(blocks: readonly Block[]): InterleavedRatio | undefined {
  const quads = new Map<number, Block[]>()
  for (const block of blocks) {
    const quad = quads.get(block.quad) ?? []
    quad[block.place] = block
    quads.set(block.quad, quad)
  }
  const complete = [...quads.values()].filter((quad) => quad.length === PLACES && [0, 1, 2, 3].every((place) => quad[place] !== undefined))
  const isHeldUp = heldUp(complete.flat())
  const used = complete.filter((quad) => !quad.some(isHeldUp)).flatMap((quad) => {
    const ns = logRatio(quad, ({ samplesNs }) => samplesNs)
    return ns === undefined ? [] : [{ ns, cycles: logRatio(quad, cyclesOf) }]
  })
  if (used.length === 0) return undefined
  const result: InterleavedRatio = { ...quadRatio(used.map(({ ns }) => ns)), quads: used.length }
  const cycles = used.flatMap((quad) => (quad.cycles === undefined ? [] : [quad.cycles]))
  if (cycles.length === used.length) result.cycles = quadRatio(cycles)
  return result
}

/**
 * A block that was interrupted and took longer than `HELD_UP` times the best one of its side says how long the processor was away: a call
 * that needs several threads waits until the scheduler has run all of them, some milliseconds however short it is.
 */
function heldUp(blocks: readonly Block[]): (block: Block) => boolean {
  const typical = new Map(blocks.map((block) => [block, median(block.samplesNs) ?? NaN]))
  const isB = ({ place }: Block) => place === 1 || place === 2
  const best = (side: boolean) => Math.min(...blocks.filter((block) => isB(block) === side).map((block) => typical.get(block)!).filter((ns) => ns > 0))
  const [bestA, bestB] = [best(false), best(true)]
  return (block) => block.interrupted === true && typical.get(block)! > HELD_UP * (isB(block) ? bestB : bestA)
}

/** ln(b / a) of one quad: medians of places 1 and 2 over those of 0 and 3, as means of logarithms. */
function logRatio(quad: readonly Block[], samplesOf: (block: Block) => ArrayLike<number> | undefined): number | undefined {
  const logs = quad.map((block) => {
    const samples = samplesOf(block)
    return Math.log((samples && median(samples)) ?? NaN)
  })
  const ratio = (logs[1]! + logs[2]! - logs[0]! - logs[3]!) / 2
  return Number.isFinite(ratio) ? ratio : undefined
}

/** The ratio of independent log ratios: of quads, or of runs. No interval for fewer than `least`. */
export function quadRatio(logs: readonly number[], least = INTERLEAVE.minQuads): RatioEstimate {
  const { estimate, low, high, error, degrees } = resampledTrimmedMean(logs, SEED)
  const ratio = Math.exp(estimate)
  if (logs.length < least || low === undefined || high === undefined) return { ratio }
  return { ratio, interval: { low: Math.exp(low), high: Math.exp(high) }, logError: error, degrees }
}

/**
 * Error rate of the interval that ends a pair early. Looking after every quad gives chance many tries; over 35 looks
 * this rate comes to about 5 % in all (Pocock 1977).
 */
const EARLY_ALPHA = 0.005

/**
 * Whether a pair needs no more quads: an interval of 99.5 % lies wholly beyond the threshold or wholly inside it. Wider
 * than the 95 % CI of the verdict because it is asked again after every quad.
 */
export function pairSettled(ratio: InterleavedRatio | undefined, threshold: number): boolean {
  const wider = ratio && intervalAt(ratio, EARLY_ALPHA)
  return wider !== undefined && verdictOf(wider, threshold) !== 'ambiguous'
}

/** The interval of a ratio for another error rate than 5 %; undefined where it has none. */
export function intervalAt({ ratio, interval, degrees }: RatioEstimate, alpha: number): Interval | undefined {
  if (!interval || degrees === undefined) return undefined
  const widen = studentQuantile(alpha / 2, degrees) / studentQuantile(0.025, degrees)
  return { low: ratio * (interval.low / ratio) ** widen, high: ratio * (interval.high / ratio) ** widen }
}

/** Ratios of pairs that were measured by interleaved blocks. */
export interface PairRatios {
  /** b over a, whichever of the two was called a when they were measured; undefined when they were not. */
  of(a: BenchmarkCase, b: BenchmarkCase): InterleavedRatio | undefined
}

/** Where a place of a quad is when a and b change names. */
const SWAPPED = [1, 0, 3, 2] as const

/** The pairs among results of sessions that add to the one compared. Wrong and failed blocks leave their quad incomplete. */
export function pairRatios(sessions: Iterable<Iterable<Pick<Result, 'case' | 'status' | 'samplesNs' | 'labels' | 'clocksMhz' | 'deviceStates' | 'block'> & Pick<Block, 'interrupted'>>>): PairRatios {
  const cases = new Map<string, [a?: string, b?: string]>()
  const blocks = new Map<string, Block[]>()
  let firstQuad = 0
  let session = 0
  for (const results of sessions) {
    let lastQuad = firstQuad
    for (const result of results) {
      if (!result.block || result.status !== 'ok') continue
      const { quad, place } = result.block
      const pair = `${session}/${result.block.pair}`
      const sides = cases.get(pair) ?? []
      sides[place === 0 || place === 3 ? 0 : 1] ??= caseId(result.case)
      cases.set(pair, sides)
      const known = blocks.get(pair) ?? []
      known.push({ pair, quad: firstQuad + quad, place, ...typicalBlock(result) })
      blocks.set(pair, known)
      lastQuad = Math.max(lastQuad, firstQuad + quad + 1)
    }
    firstQuad = lastQuad
    session++
  }
  const found = new Map<string, Block[]>()
  for (const [pair, [a, b]] of cases) {
    if (a === undefined || b === undefined) continue
    const key = `${a} ${b}`
    found.set(key, [...(found.get(key) ?? []), ...blocks.get(pair)!])
  }
  return {
    of(a, b) {
      const [left, right] = [caseId(a), caseId(b)]
      const turned = (found.get(`${right} ${left}`) ?? []).map((block) => ({ ...block, place: SWAPPED[block.place]! }))
      return interleavedRatio([...(found.get(`${left} ${right}`) ?? []), ...turned])
    },
  }
}

/** A block by the median of its clean samples alone, in ns and in cycles, and whether it was interrupted: thousands of blocks are held at a time. */
export function typicalBlock(result: Pick<Result, 'samplesNs' | 'labels' | 'clocksMhz' | 'deviceStates'> & Pick<Block, 'interrupted'>): Pick<Block, 'samplesNs' | 'clocksMhz' | 'interrupted'> {
  const run = runOf(result)
  const ns = median(run.ns)
  const cycles = run.cycles && median(run.cycles)
  if (ns === undefined) return { samplesNs: [] }
  return { samplesNs: [ns], ...(cycles === undefined ? {} : { clocksMhz: [(cycles / ns) * 1000] }), ...(result.interrupted ?? wasInterrupted(result) ? { interrupted: true } : {}) }
}
