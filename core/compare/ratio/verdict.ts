import type { Interval } from '../../stats/bootstrap'
import { studentTail, benjaminiHochberg } from '../../stats/significance'
import { formatRatio } from '../../units'
import type { RatioEstimate } from './ratio'
import { THRESHOLD, type Verdict, type CompareCell } from '../types'

/**
 * The verdict of an interval of the time ratio (this / baseline). Wholly beyond the threshold: faster or slower. Wholly
 * inside: same. Anything else, no interval included, is ambiguous and needs more samples.
 */
export function verdictOf(interval: Interval | undefined, threshold = THRESHOLD): Verdict {
  if (!interval) return 'ambiguous'
  if (interval.high < 1 - threshold) return 'faster'
  if (interval.low > 1 + threshold) return 'slower'
  if (interval.low >= 1 - threshold && interval.high <= 1 + threshold) return 'same'
  return 'ambiguous'
}

/**
 * Two-sided p of "no further from 1 than the threshold": how often chance alone would show a ratio this far beyond the
 * nearer edge of the band, from the bootstrap's standard error of ln(ratio) and Student's t (Efron and Tibshirani 1993,
 * chapter 16; the band as null hypothesis after Hodges and Lehmann 1954). 1 inside the band; below 0.05 about where
 * the 95 % CI is wholly beyond. Undefined where the error is not known.
 */
export function pValueOf({ ratio, logError, degrees }: RatioEstimate, threshold: number): number | undefined {
  if (logError === undefined || degrees === undefined) return undefined
  const beyond = ratio > 1 ? Math.log(ratio / (1 + threshold)) : threshold < 1 ? Math.log((1 - threshold) / ratio) : -1
  if (beyond <= 0) return 1
  return logError > 0 ? Math.min(1, 2 * studentTail(beyond / logError, degrees)) : 0
}

/** Share of false ones among the faster and slower cells of a comparison that is accepted. */
export const FALSE_DISCOVERIES = 0.05

/**
 * SM clocks of two sides count as different when their medians are this fraction apart: then time and cycles of equal
 * work differ by half of the usual threshold.
 */
export const CLOCK_DIFFERENCE = 0.005

const WORDS: Readonly<Record<Verdict, string>> = { faster: 'faster', slower: 'slower', same: 'same', ambiguous: 'unclear' }

/** A cell before its verdict. */
export interface Draft {
  cell: Pick<CompareCell, 'p' | 'adjustedP' | 'verdict' | 'doubt'>
  time: RatioEstimate
  /** Its operation's own threshold; absent: that of the comparison. */
  threshold?: number
  /** The same in SM cycles, with the clock of this side over the baseline's and how to say it: `the clock was ...`. */
  cycles?: { estimate: RatioEstimate; clockRatio: number; clocks: string }
}

/**
 * Gives all cells of one comparison their verdicts. Each is first judged alone by its interval; then a faster or slower
 * that does not survive Benjamini-Hochberg over all cells, or that SM cycles do not confirm though the clocks differed,
 * becomes ambiguous and says why in `doubt`, where a verdict is called as in `words`.
 */
export function assignVerdicts(drafts: readonly Draft[], threshold: number, words: Readonly<Record<Verdict, string>> = WORDS): void {
  const tested = drafts.flatMap((draft) => {
    const p = pValueOf(draft.time, draft.threshold ?? threshold)
    return p === undefined ? [] : [{ draft, p }]
  })
  const adjusted = benjaminiHochberg(tested.map(({ p }) => p))
  const found = new Map(tested.map(({ draft, p }, i) => [draft, { p, adjusted: adjusted[i]! }]))
  for (const draft of drafts) {
    const { cell, time, cycles, threshold: own = threshold } = draft
    const alone = verdictOf(time.interval, own)
    const p = found.get(draft)
    if (p) {
      cell.p = p.p
      cell.adjustedP = p.adjusted
    }
    const doubts = [p && chance(alone, p, tested.length, words), cycles && disagreement(alone, time, cycles, own)].filter((doubt) => doubt !== undefined)
    cell.verdict = doubts.length > 0 ? 'ambiguous' : alone
    if (doubts.length > 0) cell.doubt = doubts.join(' ')
  }
}

/** `0.031`, `< 0.001`, and `> 0.05` where two digits would round it down to the limit. */
export function pText(p: number): string {
  const rounded = Number(p.toPrecision(2))
  if (p < 0.001) return '< 0.001'
  return rounded === FALSE_DISCOVERIES && p > FALSE_DISCOVERIES ? `> ${FALSE_DISCOVERIES}` : String(rounded)
}

/** `p = 0.031`, `p < 0.001`. */
const pWords = (p: number) => (/^\d/.test(pText(p)) ? `p = ${pText(p)}` : `p ${pText(p)}`)

function chance(alone: Verdict, { p, adjusted }: { p: number; adjusted: number }, cells: number, words: Readonly<Record<Verdict, string>>): string | undefined {
  if ((alone !== 'faster' && alone !== 'slower') || adjusted <= FALSE_DISCOVERIES) return undefined
  const corrected = cells === 1 ? '' : `, after the correction for ${cells} cases ${pWords(adjusted)} (Benjamini-Hochberg)`
  if (p > FALSE_DISCOVERIES) return `The 95 % CI lies beyond the threshold, but the test does not confirm it: ${pWords(p)}${corrected}; the limit is ${FALSE_DISCOVERIES}.`
  return `Unclear because of the correction for ${cells} cases (Benjamini-Hochberg): ${words[alone]} on its own (${pWords(p)}), but corrected ${pWords(adjusted)}; the limit is ${FALSE_DISCOVERIES}.`
}

function disagreement(alone: Verdict, time: RatioEstimate, { estimate, clockRatio, clocks }: NonNullable<Draft['cycles']>, threshold: number): string | undefined {
  if (alone === 'ambiguous' || Math.abs(Math.log(clockRatio)) <= CLOCK_DIFFERENCE) return undefined
  const inCycles = verdictOf(estimate.interval, threshold)
  if (inCycles === alone) return undefined
  const words = { faster: 'Faster', slower: 'Slower', same: 'The same' }
  return `${words[alone]} in time (speedup ${formatRatio(1 / time.ratio)}) but ${inCycles === 'ambiguous' ? 'unclear' : inCycles} in SM cycles (${formatRatio(1 / estimate.ratio)}): ${clocks}.`
}
