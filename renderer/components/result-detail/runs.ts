import type { Run } from '@core/analysis/case-runs'
import { caseId, type BenchmarkCase } from '@core/case'
import type { RowSource } from '../../stores/rows/result-rows'

/** The right runs of this case among these rows, in the order taken. */
export function runsAmong(rows: RowSource, measured: BenchmarkCase): Run[] {
  const wanted = caseId(measured)
  const known = new Map<BenchmarkCase, boolean>()
  const isSame = (one: BenchmarkCase) => {
    let same = known.get(one)
    if (same === undefined) known.set(one, (same = one.op === measured.op && one.impl === measured.impl && caseId(one) === wanted))
    return same
  }
  const runs: Run[] = []
  for (let i = 0; i < rows.length; i++) {
    const medianNs = rows.number(i, 'medianNs')
    if (rows.status(i) !== 'ok' || !(medianNs > 0) || !isSame(rows.case(i))) continue
    const [ciLowNs, ciHighNs] = [rows.number(i, 'ciLowNs'), rows.number(i, 'ciHighNs')]
    runs.push({ id: rows.id(i), medianNs, ...(Number.isNaN(ciLowNs) || Number.isNaN(ciHighNs) ? {} : { ciLowNs, ciHighNs }) })
  }
  return runs
}
