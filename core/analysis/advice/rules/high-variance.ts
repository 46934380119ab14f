import { formatPercent, formatTime } from '../../../units'
import { andOthers, caseWords, groupBy, isMeasured, type MeasuredRow } from '../group'
import type { AdviceRule } from '../types'

/** The grade calls a case noisy from here on. */
const MAD = 0.05
/** A tail this heavy means a mean tells little, even where the median is steady. */
const STDDEV = 0.25

interface Spread {
  row: MeasuredRow
  share: number
}

function spreadOf(row: MeasuredRow): Spread[] {
  const mad = (row.madNs ?? 0) / row.medianNs
  const deviation = row.meanNs === undefined || row.meanNs === 0 ? 0 : (row.stddevNs ?? 0) / row.meanNs
  return mad > MAD || deviation > STDDEV ? [{ row, share: Math.max(mad, deviation) }] : []
}

/** Samples of a case scatter so much that a single figure says little. */
const rule: AdviceRule = {
  id: 'high-variance',
  title: 'Samples scatter',
  find: ({ rows }) =>
    groupBy(rows.filter(isMeasured).flatMap(spreadOf), ({ row }) => `${row.case.backend}|${row.case.device}`).map((group) => {
      const ordered = [...group].sort((a, b) => b.share - a.share)
      const { row } = ordered[0]!
      const tail = (row.madNs ?? 0) <= MAD * row.medianNs
      return {
        rule: rule.id,
        severity: 'warning',
        rows: ordered.map((one) => one.row.id),
        sentence: `Samples of ${caseWords(row.case)}${andOthers(group.length - 1, 'case', 'cases')} on this device scatter: ${tail ? `the standard deviation is ${formatPercent(ordered[0]!.share)} of the mean` : `the median deviation is ${formatPercent((row.madNs ?? 0) / row.medianNs)} of the median`}. Close other programs, fix the clocks, or take more samples.`,
        evidence: [
          { name: 'Median', value: formatTime(row.medianNs) },
          ...(row.p05Ns !== undefined && row.p95Ns !== undefined ? [{ name: '5 to 95 % of the samples', value: `${formatTime(row.p05Ns)} to ${formatTime(row.p95Ns)}` }] : []),
          ...(row.meanNs !== undefined && row.stddevNs !== undefined ? [{ name: 'Mean and standard deviation', value: `${formatTime(row.meanNs)} ± ${formatTime(row.stddevNs)}` }] : []),
        ],
      }
    }),
}
export default rule
