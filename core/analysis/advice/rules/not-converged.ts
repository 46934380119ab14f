import { formatInterval } from '../../../units'
import { andOthers, caseWords, groupBy, isMeasured } from '../group'
import type { AdviceRule } from '../types'

/** Sampling ended before the interval was as narrow as asked. */
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
        sentence: `${caseWords(row.case)}${andOthers(group.length - 1, 'case', 'cases')} on this device did not reach the interval asked for (${formatInterval(row.medianNs, row.ciLowNs, row.ciHighNs)}): give them more time, or ask for less.`,
        evidence: [{ name: 'Sampling ended', value: stopReason ?? 'without a reason on record' }, { name: 'Interval', value: formatInterval(row.medianNs, row.ciLowNs, row.ciHighNs) }],
      }
    })
  },
}
export default rule
