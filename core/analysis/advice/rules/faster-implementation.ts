import { formatRatio, formatTime } from '../../../units'
import { caseWords, groupBy, withGain } from '../group'
import { rivals } from '../rivals'
import type { AdviceRule } from '../types'

/** Smallest speedup worth a change of implementation; a single run's interval does not support a smaller claim. */
const MIN_SPEEDUP = 1.1

/** Another implementation on the same device is faster. */
const rule: AdviceRule = {
  id: 'faster-implementation',
  title: 'Another implementation is faster',
  find: ({ rows }) => {
    const found = rivals(rows).flatMap((pair) => (pair.speedup.low !== undefined && pair.speedup.low > MIN_SPEEDUP ? [{ ...pair, factor: pair.speedup.ratio }] : []))
    return groupBy(found, ({ row, other }) => [row.case.backend, row.case.device, row.case.impl, other.case.impl].join('|')).map((group) =>
      withGain(group, 'ratio of the medians of both implementations', ({ row, other, speedup }, others) => ({
        rule: rule.id,
        severity: 'info',
        sentence: `${other.case.impl} is ${formatRatio(speedup.ratio)} faster than ${row.case.impl} here (95 % CI ${formatRatio(speedup.low)} to ${formatRatio(speedup.high)}): ${caseWords(row.case)}.${others}`,
        evidence: [
          { name: row.case.impl, value: formatTime(row.medianNs) },
          { name: other.case.impl, value: formatTime(other.medianNs) },
        ],
      })),
    )
  },
}
export default rule
