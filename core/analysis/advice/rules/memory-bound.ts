import { formatBandwidth, formatPercent, formatRatio, formatTime } from '../../../units'
import { caseWords, groupBy, kernelKey, withGain } from '../group'
import { placed } from '../placed'
import type { AdviceRule } from '../types'

/** Streaming kernels with nothing in their way reach 80 to 95 % of a copy; below this share something other than memory holds them up. */
const POOR = 0.6
/** Below half of it the gain outweighs most other work on the kernel. */
const BAD = 0.5
/** Where launching takes this much of the time, the launch is what the advice is about. */
const LAUNCH = 0.5

/** Memory should be the limit, and is far from being reached. */
const rule: AdviceRule = {
  id: 'memory-bound',
  title: 'Far from the memory roof',
  find: (input) => {
    const poor = placed(input).flatMap((one) => {
      const { bound, efficiency } = one.point
      return bound === 'memory' && efficiency !== undefined && efficiency < POOR && (one.launchShare ?? 0) < LAUNCH ? [{ ...one, factor: 1 / efficiency }] : []
    })
    return groupBy(poor, ({ row }) => kernelKey(row.case)).map((group) =>
      withGain(group, 'median time over the time the measured copy rate allows for the least traffic', ({ row, point, roofs, factor, stale }, others) => ({
        rule: rule.id,
        severity: 1 / factor < BAD ? 'warning' : 'info',
        sentence: `${caseWords(row.case)} is memory bound at ${formatPercent(1 / factor)} of the measured copy rate: up to ${formatRatio(factor)} as fast${others}.`,
        evidence: [
          { name: 'Bandwidth', value: formatBandwidth(point.bytesPerSecond) },
          { name: 'Measured copy rate', value: formatBandwidth(roofs.bytesPerSecond) + (stale === undefined ? '' : ` (${stale})`) },
          { name: 'Median', value: formatTime(row.medianNs) },
        ],
      })),
    )
  },
}
export default rule
