import { formatRatio, formatTime } from '../../../units'
import { caseWords, groupBy, withGain } from '../group'
import { rivals } from '../rivals'
import type { AdviceRule } from '../types'

/** Below this a change of implementation is rarely worth it, and intervals of single runs are not to be stretched. */
const WORTH = 1.1

/** Another implementation of the same device does the same case faster. */
const rule: AdviceRule = {
  id: 'faster-implementation',
  title: 'Another implementation is faster',
  find: ({ rows }) => {
    const found = rivals(rows).flatMap((pair) => (pair.speedup.low !== undefined && pair.speedup.low > WORTH ? [{ ...pair, factor: pair.speedup.ratio }] : []))
    return groupBy(found, ({ row, other }) => [row.case.backend, row.case.device, row.case.mode, row.case.impl, other.case.impl].join('|')).map((group) =>
      withGain(group, 'ratio of the medians of both implementations', ({ row, other, speedup }, others) => ({
        rule: rule.id,
        severity: 'info',
        sentence: `${caseWords(row.case)} would be ${formatRatio(speedup.ratio)} (${formatRatio(speedup.low)} to ${formatRatio(speedup.high)}) as fast with ${other.case.impl}${others}.`,
        evidence: [
          { name: row.case.impl, value: formatTime(row.medianNs) },
          { name: other.case.impl, value: formatTime(other.medianNs) },
        ],
      })),
    )
  },
}
export default rule
