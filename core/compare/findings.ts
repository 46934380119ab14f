import type { BenchmarkCase } from '../case'
import { thresholdFor } from './thresholds'
import type { CompareCell, Comparison, Verdict } from './types'

/** A cell that stands out. */
export interface Finding {
  row: Comparison['rows'][number]
  side: number
  cell: CompareCell & { speedup: number }
  /** In force for its operation, as a fraction. */
  threshold: number
}

/** The cells with this verdict, the largest effect first. `slower`: the regressions. */
export function findingsOf(comparison: Comparison, verdict: Verdict): Finding[] {
  const thresholds = { threshold: comparison.threshold, byOp: comparison.opThresholds }
  const found = comparison.rows.flatMap((row) =>
    row.cells.flatMap((cell, side): Finding[] => (cell?.verdict === verdict && cell.speedup !== undefined ? [{ row, side, cell: { ...cell, speedup: cell.speedup }, threshold: thresholdFor(thresholds, row.case.op) }] : [])),
  )
  return found.sort((a, b) => Math.abs(Math.log(b.cell.speedup)) - Math.abs(Math.log(a.cell.speedup)))
}

/** Cases in which a side failed verification, or is too inaccurate to be ranked, and the baseline may have passed. */
export const wrongCases = ({ unmatched }: Comparison): { sessionId: string; case: BenchmarkCase; reason: string }[] => unmatched.filter(({ status, baseline }) => (status === 'wrong' || status === 'inaccurate') && !baseline)

/** What a comparison can be made to fail on. */
export const FAIL_ON = ['slower', 'faster', 'wrong', 'ambiguous'] as const
export type FailOn = (typeof FAIL_ON)[number]

/** How many cases each of these applies to; those that apply to none are left out. */
export function failuresOf(comparison: Comparison, failOn: readonly FailOn[]): { what: FailOn; cases: number }[] {
  return failOn.flatMap((what) => {
    const cases = what === 'wrong' ? wrongCases(comparison).length : comparison.rows.reduce((sum, { cells }) => sum + cells.filter((cell) => cell?.verdict === what).length, 0)
    return cases > 0 ? [{ what, cases }] : []
  })
}
