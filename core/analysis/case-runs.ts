import type { Interval } from '../stats/bootstrap'
import { overRuns } from '../stats/summarize'

/** One right run of a case: its median in ns per call, with the 95 % CI of its own samples where there is one. */
export interface Run {
  /** Of its result. */
  id: string
  medianNs: number
  ciLowNs?: number
  ciHighNs?: number
}

/** What several runs of one case say together. ns per call. */
export interface CaseRuns {
  /** In the order taken. */
  runs: readonly Run[]
  medianNs: number
  /** 95 % CI whose unit is the run. */
  interval: Interval
}

/** The right runs of one case as one figure (core/stats/summarize.ts); undefined for fewer than three. */
export function caseRuns(runs: readonly Run[]): CaseRuns | undefined {
  const over = overRuns(runs.map(({ medianNs }) => medianNs))
  return over?.interval && { runs, medianNs: over.median, interval: over.interval }
}

/** What an interval over runs says that the interval of one run does not. */
export const TWO_INTERVALS = 'The interval of one run speaks about the tens of milliseconds in which it was measured; the one over runs also about what changes from one run to the next.'
