import { formatInteger, formatRatio, formatRatioRange, ratioWords, speedupWords } from '../../units'
import type { RatioWithInterval } from '../../stats/mean-ratio'
import type { Comparison, EnergyCell, EnergyVerdict, Verdict } from '../types'
import { sideText, summarizeSide, type SideSummary } from './summary'

/** How a verdict is written: a sign and a word, so that colour is never alone. */
export const VERDICT_WORDS: Readonly<Record<Verdict, { sign: string; word: string }>> = {
  faster: { sign: '▲', word: 'faster' },
  slower: { sign: '▼', word: 'slower' },
  same: { sign: '=', word: 'same' },
  ambiguous: { sign: '?', word: 'unclear' },
}

/** `▲ faster`; with a separator between sign and word. */
export const verdictText = (verdict: Verdict): string => `${VERDICT_WORDS[verdict].sign} ${VERDICT_WORDS[verdict].word}`

/** The same of energy. */
export const ENERGY_WORDS: Readonly<Record<EnergyVerdict, { sign: string; word: string }>> = {
  less: { sign: '▼', word: 'less' },
  more: { sign: '▲', word: 'more' },
  same: { sign: '=', word: 'same' },
  ambiguous: { sign: '?', word: 'unclear' },
}
export const energyVerdictText = (verdict: EnergyVerdict): string => `${ENERGY_WORDS[verdict].sign} ${ENERGY_WORDS[verdict].word}`
const ENERGY_VERDICTS: readonly EnergyVerdict[] = ['less', 'more', 'same', 'ambiguous']

/** `0.909x`, and `0.905 to 0.913`: an energy ratio and its interval, as speedups are written. */
export const energyRatioText = (cell: Pick<EnergyCell, 'ratio'> | undefined): string => formatRatio(cell?.ratio)
export const energyRangeText = (cell: EnergyCell | undefined): string => formatRatioRange(cell?.low, cell?.high)

/** The order in which verdicts are counted. */
export const VERDICTS: readonly Verdict[] = ['faster', 'slower', 'same', 'ambiguous']

/** What a comparison says of one side as a whole. */
export interface SideAnswer extends SideSummary {
  /** Index of the side. */
  side: number
  /** The side, and the baseline. */
  name: string
  base: string
  /** `1.04x faster than`, `as fast as`, `not clearly faster or slower than`; absent without a common case. */
  relation?: string
  /** `geometric mean over 222 cases, 95 % CI 1.03x to 1.05x`. */
  basis: string
  /** `107 faster, 1 slower, 75 same, 39 unclear`. */
  counted: string
  /** The whole in one sentence: `B is 1.04x faster than A (geometric mean over 222 cases): 107 faster, 1 slower, 75 same, 39 unclear.` */
  sentence: string
  /** The same of the energy of a call: `B uses 0.91x the energy per call of A (geometric mean over 2 cases, ...): 2 less, 0 more, 0 same, 0 unclear.`; absent where it was not measured on both sides. */
  energySentence?: string
}

/** `3 cases`, `1 case`. */
export const countedCases = (count: number): string => `${formatInteger(count)} ${count === 1 ? 'case' : 'cases'}`

/** How a side compares with the baseline as a whole. `nameOf` names the sides; absent: by their value of the axis or their session. */
export function answerOf(comparison: Comparison, side: number, nameOf: (side: number) => string = (i) => sideText(comparison, i)): SideAnswer {
  const summary = summarizeSide(comparison.rows, side)
  const { speedup, speedupLow, speedupHigh, cases, counts } = summary
  const [name, base] = [nameOf(side), nameOf(0)]
  const counted = VERDICTS.map((verdict) => `${formatInteger(counts[verdict])} ${VERDICT_WORDS[verdict].word}`).join(', ')
  const energySentence = summary.energy && energySentenceOf(summary.energy, name, base)
  if (speedup === undefined) return { ...summary, side, name, base, basis: '', counted, sentence: `${name} and ${base} have no case in common.${comparison.threadsDiffer ? ' Implementations are compared at the same number of threads, and here these differ.' : ''}` }
  const words = meanWords({ ratio: speedup, low: speedupLow, high: speedupHigh })
  const relation = words === 'as fast' ? 'as fast as' : `${words} than`
  const basis = meanBasis(cases, { ratio: speedup, low: speedupLow, high: speedupHigh })
  return { ...summary, side, name, base, relation, basis, counted, sentence: `${name} is ${relation} ${base} (${basis}): ${counted}.`, ...(energySentence === undefined ? {} : { energySentence }) }
}

function energySentenceOf({ ratio, low, high, cases, counts }: NonNullable<SideSummary['energy']>, name: string, base: string): string {
  const interval = low === undefined || high === undefined ? '' : `, 95 % CI ${answerInterval(low, high)}`
  const verdicts = ENERGY_VERDICTS.map((verdict) => `${formatInteger(counts[verdict])} ${ENERGY_WORDS[verdict].word}`).join(', ')
  return `${name} uses ${formatRatio(ratio)} the energy per call of ${base} (geometric mean over ${countedCases(cases)}${interval}): ${verdicts}.`
}

/** Whether the interval of a mean leaves open which of two is faster, so that no sentence may say so. */
const isOpen = ({ ratio, low, high }: RatioWithInterval): boolean => low !== undefined && high !== undefined && low <= 1 && high >= 1 && speedupWords(ratio) !== 'as fast'

/** `geometric mean over 222 cases, 95 % CI 1.03x to 1.05x`, for a sentence that says how many times faster, or slower: the interval is of that figure. Of one that cannot say which, the mean is here. */
export function meanBasis(cases: number, mean: RatioWithInterval): string {
  const { ratio, low, high } = mean
  const open = isOpen(mean)
  const interval = low === undefined || high === undefined ? '' : `, 95 % CI ${ratio < 1 && !open ? answerInterval(1 / high, 1 / low) : answerInterval(low, high)}`
  return `geometric mean ${open ? `${formatRatio(ratio)} ` : ''}over ${countedCases(cases)}${interval}`
}

/** Whether two decimals do not tell the ends of an interval apart. */
const isNarrow = (low: number, high: number): boolean => low !== high && ratioWords(low) === ratioWords(high)

/** `1.04x faster`, with the digits of its interval: rounded to fewer it may lie outside. `not clearly faster or slower` where the interval holds 1. */
export function meanWords(mean: RatioWithInterval): string {
  const { ratio, low, high } = mean
  if (isOpen(mean)) return 'not clearly faster or slower'
  const words = speedupWords(ratio)
  if (words === 'as fast' || low === undefined || high === undefined || !(ratio < 1 ? isNarrow(1 / high, 1 / low) : isNarrow(low, high))) return words
  return `${formatRatio(Math.max(ratio, 1 / ratio))} ${ratio > 1 ? 'faster' : 'slower'}`
}

/** `1.03x to 1.05x`, with the digits of a figure where two decimals say too little. */
export const answerInterval = (low: number, high: number): string => (low < 1 || isNarrow(low, high) ? `${formatRatio(low)} to ${formatRatio(high)}` : `${ratioWords(low)} to ${ratioWords(high)}`)

/** One answer for each side after the baseline. */
export const answersOf = (comparison: Comparison, nameOf?: (side: number) => string): SideAnswer[] => comparison.sessions.slice(1).map((_, i) => answerOf(comparison, i + 1, nameOf))

/**
 * What the slower cases are called: a regression is between versions of the same thing, which sessions of the same devices are. Two
 * implementations, dtypes or devices are different things, of which one is slower.
 */
export const slowerTitle = ({ versions }: Pick<Comparison, 'versions'>): 'Regressions' | 'Slower cases' => (versions ? 'Regressions' : 'Slower cases')
