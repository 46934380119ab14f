import type { Device } from '../backend'
import { gradeSchema, type Grade } from '../result'
import { ceilingKind, ceilingTitle, ceilingValue, ceilingsOn, compareKinds, intervalOf, splitKind, unusableText } from '../roofline/ceilings'
import { datasheetValue } from '../roofline/datasheet'
import type { Ceiling } from '../session/types'
import { formatInterval, formatPercent } from '../units'

/** One measured limit of a device in words. */
export interface LimitLine {
  title: string
  /** `4.19 TB/s ±0.2 %, 87.3 % of the datasheet`: half of the 95 % CI after the value. */
  value: string
  /** Why it bounds no result. */
  unusable?: string
}

/** The measured limits of a device for a reader: bandwidths, peaks and launches, without the points of the copy curve and those of single levels and thread counts. */
export function limitLines(device: Device, ceilings: readonly Ceiling[]): LimitLine[] {
  return ceilingsOn(ceilings, [device])
    .filter(({ kind }) => !['copy-size', 'other'].includes(ceilingKind(kind).is) && !splitKind(kind).choice)
    .sort((a, b) => compareKinds(a.kind, b.kind))
    .map((ceiling) => {
      const published = datasheetValue(ceiling.deviceName, ceiling.kind)
      const { low, high } = intervalOf(ceiling)
      const measured = low === undefined || high === undefined ? ceilingValue(ceiling) : `${ceilingValue(ceiling)} ${formatInterval(ceiling.value, low, high)}`
      const unusable = unusableText(ceiling)
      return { title: ceilingTitle(ceiling.kind), ...(unusable === undefined ? {} : { unusable }), value: [measured, published === undefined ? '' : `${formatPercent(ceiling.value / published)} of the datasheet`].filter(Boolean).join(', ') }
    })
}

/** Why results have a grade below A. */
export interface GradeCause {
  /** The cause, such as `Noisy`. */
  cause: string
  /** Results that have it. */
  results: number
  /** One reason in full. */
  example: string
}

/** What the grades of a session are and why. */
export interface GradeSummary {
  counts: Record<Grade, number>
  /** Most frequent first. */
  causes: GradeCause[]
}

/** Counts grades and the causes of those below A. A reason is `Cause: figures.` (core/measure/result/grade.ts); one without a colon is its own cause. */
export function gradeSummary(results: Iterable<{ grade?: Grade | undefined; gradeReasons?: readonly string[] | undefined }>): GradeSummary {
  const counts = Object.fromEntries(gradeSchema.options.map((grade) => [grade, 0])) as Record<Grade, number>
  const causes = new Map<string, GradeCause>()
  for (const { grade, gradeReasons = [] } of results) {
    if (grade) counts[grade]++
    const own = new Map(gradeReasons.map((reason) => [reason.split(':')[0]!.replace(/\.$/, ''), reason]))
    for (const [cause, example] of own) {
      const known = causes.get(cause)
      if (known) known.results++
      else causes.set(cause, { cause, results: 1, example })
    }
  }
  return { counts, causes: [...causes.values()].sort((a, b) => b.results - a.results) }
}
