import { caseId } from '../../../case'
import { formatRatio, formatTime } from '../../../units'
import { speedupOf } from '../../timing'
import { caseWords, groupBy, kernelKey, withGain } from '../group'
import { placed } from '../placed'
import type { AdviceRule } from '../types'

/** Memory is two to three times as slow as the last cache of a GPU or CPU: more than this is not memory alone. */
const FAR = 4
/** A cold call within this many times its roof is explained by memory. */
const EXPLAINED = 2

/** A call with empty caches takes far longer than one after another, and memory does not explain it. */
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
      if (!partner || ratio?.low === undefined || ratio.low < FAR || point.efficiency === undefined || point.efficiency > 1 / EXPLAINED) return []
      // A launch after a flush can be all there is to it, and then the latency rule has its say.
      if ((one.launchShare ?? 0) > 0.5) return []
      return [{ ...one, partner, ratio, factor: ratio.ratio }]
    })
    return groupBy(found, ({ row }) => kernelKey(row.case)).map((group) =>
      withGain(group, 'cold median over hot median', ({ row, partner, ratio }, others) => ({
        rule: rule.id,
        severity: 'info',
        sentence: `${caseWords(row.case)} takes ${formatRatio(ratio.ratio)} (${formatRatio(ratio.low)} to ${formatRatio(ratio.high)}) its hot time, more than memory explains: first touches (page tables, instruction caches, idle clocks) weigh, so keep it warm or batch it${others}.`,
        evidence: [
          { name: 'Cold', value: formatTime(row.medianNs) },
          { name: 'Hot', value: formatTime(partner.medianNs) },
        ],
      })),
    )
  },
}
export default rule
