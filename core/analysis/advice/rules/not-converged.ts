import { formatInterval } from '../../../units'
import { andOthers, caseWords, groupBy, isMeasured } from '../group'
import type { AdviceRule } from '../types'

/** Cases whose sampling ended before the interval reached its target width. */
const rule: AdviceRule = {
  id: 'not-converged',
  title: 'Not converged',
  find: ({ rows, details }) => {
    const width = (row: (typeof rows)[number]) => ((row.ciHighNs ?? Infinity) - (row.ciLowNs ?? 0)) / (row.medianNs ?? 1)
    const found = rows.filter((row) => isMeasured(row) && details?.get(row.id)?.converged === false)
    return groupBy(found, ({ case: c }) => `${c.backend}|${c.device}`).map((group) => {
      const ordered = [...group].sort((a, b) => width(b) - width(a))
      const row = ordered[0]!
      const { stopReason } = details?.get(row.id) ?? {}
      return {
        rule: rule.id,
        severity: 'warning',
        rows: ordered.map(({ id }) => id),
        sentence: `${caseWords(row.case)}${andOthers(group.length - 1)} on this device did not reach the target 95 % CI; the widest is ${formatInterval(row.medianNs, row.ciLowNs, row.ciHighNs)}. Raise the time limit or the target.`,
        evidence: [{ name: 'Sampling ended', value: stopReason ?? 'no reason recorded' }, { name: '95 % CI', value: formatInterval(row.medianNs, row.ciLowNs, row.ciHighNs) }],
      }
    })
  },
}
export default rule
