import { caseId } from '../../case'
import type { Row } from '../../session/rows'
import { speedupOf, type RatioOfMedians } from '../timing'
import { groupBy, isMeasured, type MeasuredRow } from './group'

/** A row and the fastest row of another implementation that did the same on the same device. */
export interface Rivals {
  row: MeasuredRow
  other: MeasuredRow
  /** Of `other` over `row`: above 1, it is faster. */
  speedup: RatioOfMedians
}

/** Every row that another implementation beat, with the fastest one. Modes and thread counts are not mixed. */
export function rivals(rows: readonly Row[]): Rivals[] {
  return groupBy(rows.filter(isMeasured), (row) => caseId({ ...row.case, impl: '*' })).flatMap((group) => {
    const best = group.reduce((least, row) => (row.medianNs < least.medianNs ? row : least))
    return group.flatMap((row): Rivals[] => {
      const speedup = row.case.impl === best.case.impl ? undefined : speedupOf(best, row)
      return speedup && speedup.ratio > 1 ? [{ row, other: best, speedup }] : []
    })
  })
}
