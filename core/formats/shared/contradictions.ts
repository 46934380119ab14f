import { caseText } from '../../case-words'
import { cleanSamples } from '../../measure/result/labels'
import type { Result, Summary } from '../../result'
import { quantileOfSorted, sorted, mean } from '../../stats/descriptive'
import { summarize } from '../../stats/summarize'
import { formatTime } from '../../units'

/** What a file states of a result beside what that follows from. */
export interface Claim extends Partial<Pick<Summary, 'count' | 'medianNs' | 'minNs' | 'maxNs' | 'meanNs' | 'ciLowNs' | 'ciHighNs'>> {
  /** Throughputs that were found not to follow from the figures beside them (contradictedRate). */
  rates?: readonly string[]
}

/** Rounding of a figure that was written in another unit or with few digits. */
const ROUNDING = 1e-4

/**
 * The 95 % CI of a median reaches 0.98 sqrt(n) ranks to either side. Ways to compute it differ where samples stand in
 * two groups, so only an interval is contradicted that is narrower than a quarter of the one of RANKS sqrt(n).
 */
const RANKS = 0.4
const NARROWEST = 0.25

const differ = (claimed: number, found: number) => Number.isFinite(found) && Math.abs(claimed - found) > ROUNDING * Math.max(Math.abs(claimed), Math.abs(found))

/** What the samples give: `median 12.3 µs (its samples: 24.6 µs)`, one for each figure that they contradict. */
function contradicted(claim: Claim, samplesNs: readonly number[]): string[] {
  const ascending = sorted(samplesNs)
  if (!ascending) return []
  const n = ascending.length
  const found: [name: string, claimed: number | undefined, found: number][] = [
    ['median', claim.medianNs, quantileOfSorted(ascending, 0.5)], ['minimum', claim.minNs, ascending[0]!], ['maximum', claim.maxNs, ascending[n - 1]!], ['mean', claim.meanNs, mean(samplesNs)!],
  ]
  const texts = found.flatMap(([name, claimed, real]) => (claimed !== undefined && differ(claimed, real) ? [`${name} ${formatTime(claimed)} (its samples: ${formatTime(real)})`] : []))
  if (claim.count !== undefined && claim.count !== n) texts.push(`${claim.count} samples (it has ${n})`)
  return [...texts, ...contradictedInterval(claim, ascending)]
}

function contradictedInterval({ ciLowNs: low, ciHighNs: high }: Claim, ascending: Float64Array): string[] {
  if (low === undefined || high === undefined) return []
  const n = ascending.length
  const median = quantileOfSorted(ascending, 0.5)
  const says = (why: string) => [`95 % CI ${formatTime(low)} to ${formatTime(high)} (${why})`]
  if ((low > median && differ(low, median)) || (high < median && differ(high, median))) return says(`the median of its samples is ${formatTime(median)}`)
  const ranks = RANKS * Math.sqrt(n)
  const at = (rank: number) => ascending[Math.min(n - 1, Math.max(0, Math.round(rank)))]!
  const [from, to] = [at((n - 1) / 2 - ranks), at((n - 1) / 2 + ranks)]
  return high - low < NARROWEST * (to - from) && differ(low, from) ? says(`its samples around the median reach from ${formatTime(from)} to ${formatTime(to)}`) : []
}

/** Figures over samples near the largest number there is can overflow; those are not known then. */
export const finite = (summary: Summary | undefined): Summary | undefined => summary && (Object.fromEntries(Object.entries(summary).filter(([name, value]) => name === 'medianNs' || Number.isFinite(value))) as Summary)

/**
 * Holds what a file states of a result to the result's own samples (those that count, core/measure/result/labels.ts). Where they
 * contradict each other the samples are right: the statistics are computed again, the grade that stood on the others is
 * taken away, and `warning` names the result and both figures.
 */
export function heldToSamples(result: Result, claim: Claim | undefined = result.summary): { result: Result; warning?: string } {
  const samplesNs = cleanSamples(result)
  const texts = claim === undefined ? [] : contradicted(claim, samplesNs)
  const sentences = [...(texts.length > 0 ? [`The file states ${texts.join(', ')}. The statistics were computed again from the samples.`] : []), ...(claim?.rates ?? [])]
  if (sentences.length === 0) return { result }
  const again: Result = { ...result, notes: [...(result.notes ?? []), ...sentences] }
  if (texts.length > 0) {
    const summary = finite(summarize(samplesNs, (result.tickNs ?? 0) / (result.inner ?? 1)))
    if (summary) again.summary = summary
    for (const made of ['grade', 'gradeReasons', 'converged', 'stopReason'] as const) delete again[made]
  }
  return { result: again, warning: `${caseText(result.case, false)}: ${sentences.join(' ')}` }
}

/** What is impossible between the figures of one summary, in words. */
export function impossible({ medianNs, minNs, maxNs, meanNs, ciLowNs, ciHighNs }: Summary): string | undefined {
  const above = (a: number | undefined, b: number | undefined) => a !== undefined && b !== undefined && a > b && differ(a, b)
  const order: [string, number | undefined, string, number | undefined][] = [
    ['minimum', minNs, 'median', medianNs], ['median', medianNs, 'maximum', maxNs], ['minimum', minNs, 'mean', meanNs], ['mean', meanNs, 'maximum', maxNs],
    ['lower end of the interval', ciLowNs, 'median', medianNs], ['median', medianNs, 'upper end of the interval', ciHighNs],
  ]
  const broken = order.find(([, low, , high]) => above(low, high))
  return broken && `expected a ${broken[0]} of at most the ${broken[2]}, received ${formatTime(broken[1]!)} and ${formatTime(broken[3]!)}`
}

/** A stated throughput and the one that follows from the figures of one call may differ by this share: it may be of the mean and the time a median. */
const RATE_ROUNDING = 0.01

/** Says that a stated throughput does not follow from the work and the time that stand beside it; undefined where it does or one is missing. `perNs`: stated, in bytes or FLOP per ns. */
export function contradictedRate(name: string, perNs: number | undefined, work: number | undefined, ns: number | undefined): string | undefined {
  if (!perNs || !work || !ns) return undefined
  const real = work / ns
  return Math.abs(perNs - real) <= RATE_ROUNDING * real ? undefined : `The file states a throughput of ${Number(perNs.toPrecision(4))} ${name}, but the work and the time of one call give ${Number(real.toPrecision(4))} ${name}. The throughput was computed again.`
}

/** The claim of such texts; undefined where there is none. */
export function rateClaim(texts: readonly (string | undefined)[]): Claim | undefined {
  const rates = texts.filter((text) => text !== undefined)
  return rates.length > 0 ? { rates } : undefined
}
