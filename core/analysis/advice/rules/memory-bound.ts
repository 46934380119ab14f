import { formatBandwidth, formatPercent, formatRatio, formatTime } from '../../../units'
import { caseWords, groupBy, kernelKey, withGain } from '../group'
import { placed } from '../placed'
import type { AdviceRule } from '../types'

/** Streaming kernels reach 80 to 95 % of the copy bandwidth; below this share the limit is something else. */
const POOR = 0.6
/** Below half of it the possible gain is large: a warning. */
const BAD = 0.5
/** From this share of the time on, the latency rule covers the case. */
const LAUNCH = 0.5

/** Memory-bound cases far below the measured memory bandwidth. */
const rule: AdviceRule = {
  id: 'memory-bound',
  title: 'Low share of memory bandwidth',
  find: (input) => {
    const poor = placed(input).flatMap((one) => {
      const { bound, efficiency } = one.point
      return bound === 'memory' && efficiency !== undefined && efficiency < POOR && (one.launchShare ?? 0) < LAUNCH ? [{ ...one, factor: 1 / efficiency }] : []
    })
    return groupBy(poor, ({ row }) => kernelKey(row.case)).map((group) =>
      withGain(group, 'median time over the time of the minimum memory traffic at the measured copy bandwidth', ({ row, point, roofs, factor, stale }, others) => ({
        rule: rule.id,
        severity: 1 / factor < BAD ? 'warning' : 'info',
        sentence: `${caseWords(row.case)} is memory bound at ${formatPercent(1 / factor)} of the measured copy bandwidth: up to ${formatRatio(factor)} faster is possible.${others}`,
        evidence: [
          { name: 'Bandwidth', value: formatBandwidth(point.bytesPerSecond) },
          { name: 'Measured copy bandwidth', value: formatBandwidth(roofs.bytesPerSecond) + (stale === undefined ? '' : ` (${stale})`) },
          { name: 'Median', value: formatTime(row.medianNs) },
        ],
      })),
    )
  },
}
export default rule
