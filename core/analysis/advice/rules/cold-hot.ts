import { caseId } from '../../../case'
import { formatRatio, formatTime } from '../../../units'
import { speedupOf } from '../../timing'
import { caseWords, groupBy, kernelKey, withGain } from '../group'
import { placed } from '../placed'
import type { AdviceRule } from '../types'

/** DRAM is two to three times slower than the last-level cache: a larger ratio has another cause too. */
const MAX_MEMORY_RATIO = 4
/** DRAM bandwidth explains a cold call that takes at most this many times its roof time. */
const MAX_ROOF_RATIO = 2

/** Cold calls take far longer than hot calls, and DRAM bandwidth does not explain it. */
const rule: AdviceRule = {
  id: 'cold-hot',
  title: 'Cold far slower than hot',
  find: (input) => {
    const all = placed(input)
    const hot = new Map(all.filter(({ row }) => row.case.mode === 'hot').map(({ row }) => [caseId(row.case), row]))
    const found = all.flatMap((one) => {
      const { row, point } = one
      const partner = row.case.mode === 'cold' ? hot.get(caseId({ ...row.case, mode: 'hot' })) : undefined
      const ratio = partner && speedupOf(partner, row)
      if (!partner || ratio?.low === undefined || ratio.low < MAX_MEMORY_RATIO || point.efficiency === undefined || point.efficiency > 1 / MAX_ROOF_RATIO) return []
      // The launch after a flush can explain it; the latency rule covers that.
      if ((one.launchShare ?? 0) > 0.5) return []
      return [{ ...one, partner, ratio, factor: ratio.ratio }]
    })
    return groupBy(found, ({ row }) => kernelKey(row.case)).map((group) =>
      withGain(group, 'cold median over hot median', ({ row, partner, ratio }, others) => ({
        rule: rule.id,
        severity: 'info',
        sentence: `${caseWords(row.case)} takes ${formatRatio(ratio.ratio)} its hot time (95 % CI ${formatRatio(ratio.low)} to ${formatRatio(ratio.high)}), more than DRAM bandwidth explains. Likely causes: page tables, instruction cache misses, idle clocks. Keep it warm or batch calls.${others}`,
        evidence: [
          { name: 'Cold', value: formatTime(row.medianNs) },
          { name: 'Hot', value: formatTime(partner.medianNs) },
        ],
      })),
    )
  },
}
export default rule
