import { formatTime } from '../../../units'
import { andOthers, caseWords, groupBy, isMeasured } from '../group'
import type { AdviceRule } from '../types'

/** Cases timed by the wall clock: their times include launch and wait. */
const rule: AdviceRule = {
  id: 'wall-clock',
  title: 'Timed by the wall clock',
  find: ({ rows, details }) => {
    const found = rows.filter(isMeasured).filter((row) => details?.get(row.id)?.timer === 'wall-clock')
    return groupBy(found, ({ case: c }) => `${c.backend}|${c.device}`).map((group) => {
      const row = group.reduce((least, one) => (one.medianNs < least.medianNs ? one : least))
      return {
        rule: rule.id,
        severity: 'warning',
        rows: [row, ...group.filter((one) => one !== row)].map(({ id }) => id),
        sentence: `${caseWords(row.case)}${andOthers(group.length - 1)} on this device: timed by the wall clock, because the device has no timer. Times include launch and wait. Do not compare them with device times.`,
        evidence: [{ name: 'Timer', value: 'wall clock' }, { name: 'Shortest median', value: formatTime(row.medianNs) }],
      }
    })
  },
}
export default rule
