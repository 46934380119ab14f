import { formatFlops, formatPercent, formatRatio, formatTime } from '../../../units'
import { caseWords, groupBy, kernelKey, withGain } from '../group'
import { placed } from '../placed'
import type { AdviceRule } from '../types'

/** Tuned matrix products reach 70 to 90 % of the measured peak; below half of it, tuning alone rarely closes the gap. */
const POOR = 0.5
/** Below a quarter a better algorithm (tiling, matrix units) exists nearly always. */
const BAD = 0.25
const LAUNCH = 0.5

/** Compute-bound cases far below the measured compute peak. */
const rule: AdviceRule = {
  id: 'compute-bound',
  title: 'Low share of compute peak',
  find: (input) => {
    const poor = placed(input).flatMap((one) => {
      const { bound, efficiency } = one.point
      return bound === 'compute' && efficiency !== undefined && efficiency < POOR && (one.launchShare ?? 0) < LAUNCH ? [{ ...one, factor: 1 / efficiency }] : []
    })
    return groupBy(poor, ({ row }) => kernelKey(row.case)).map((group) =>
      withGain(group, 'median time over the time the measured peak allows for the operations', ({ row, point, roofs, factor, stale }, others) => ({
        rule: rule.id,
        severity: 1 / factor < BAD ? 'warning' : 'info',
        sentence: `${caseWords(row.case)} is compute bound at ${formatPercent(1 / factor)} of the measured peak: up to ${formatRatio(factor)} faster is possible.${others}`,
        evidence: [
          { name: 'Rate', value: formatFlops(point.flopsPerSecond) },
          { name: 'Measured peak', value: formatFlops(roofs.flopsPerSecond) + (stale === undefined ? '' : ` (${stale})`) },
          { name: 'Median', value: formatTime(row.medianNs) },
        ],
      })),
    )
  },
}
export default rule
