import { formatPercent, formatTime } from '../../../units'
import { andOthers, caseWords, groupBy, isMeasured, type MeasuredRow } from '../group'
import type { AdviceRule } from '../types'

/** MAD over median from which the grade calls a case noisy. */
const MAX_MAD = 0.05
/** Standard deviation over mean from which the tail is heavy, even where the median is steady. */
const MAX_STDDEV = 0.25

interface Spread {
  row: MeasuredRow
  share: number
}

function spreadOf(row: MeasuredRow): Spread[] {
  const mad = (row.madNs ?? 0) / row.medianNs
  const deviation = row.meanNs === undefined || row.meanNs === 0 ? 0 : (row.stddevNs ?? 0) / row.meanNs
  return mad > MAX_MAD || deviation > MAX_STDDEV ? [{ row, share: Math.max(mad, deviation) }] : []
}

/** Cases whose samples vary so much that a single figure is unreliable. */
const rule: AdviceRule = {
  id: 'high-variance',
  title: 'High variance',
  find: ({ rows }) =>
    groupBy(rows.filter(isMeasured).flatMap(spreadOf), ({ row }) => `${row.case.backend}|${row.case.device}`).map((group) => {
      const ordered = [...group].sort((a, b) => b.share - a.share)
      const { row } = ordered[0]!
      const tail = (row.madNs ?? 0) <= MAX_MAD * row.medianNs
      return {
        rule: rule.id,
        severity: 'warning',
        rows: ordered.map((one) => one.row.id),
        sentence: `High variance in ${caseWords(row.case)}${andOthers(group.length - 1)} on this device: ${tail ? `the standard deviation is ${formatPercent(ordered[0]!.share)} of the mean` : `the MAD is ${formatPercent((row.madNs ?? 0) / row.medianNs)} of the median`}. Close other programs, lock the clocks, or take more samples.`,
        evidence: [
          { name: 'Median', value: formatTime(row.medianNs) },
          ...(row.p05Ns !== undefined && row.p95Ns !== undefined ? [{ name: '5 to 95 % of the samples', value: `${formatTime(row.p05Ns)} to ${formatTime(row.p95Ns)}` }] : []),
          ...(row.meanNs !== undefined && row.stddevNs !== undefined ? [{ name: 'Mean and standard deviation', value: `${formatTime(row.meanNs)} ± ${formatTime(row.stddevNs)}` }] : []),
        ],
      }
    }),
}
export default rule
