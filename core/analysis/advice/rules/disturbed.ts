import { describeLabels, labelledMask } from '../../../measure/labels'
import type { SampleLabel } from '../../../result'
import { andOthers, caseWords, groupBy, isMeasured } from '../group'
import type { AdviceRule } from '../types'

/** Fewer samples than this are set aside and spoil nothing; the grade draws its line here too. */
const SHARE = 0.1

const CURES: Readonly<Record<SampleLabel['kind'], string>> = {
  throttled: 'Cool the device or lower its load, then measure again.',
  'slow-clock': 'Fix the clocks, or let the device come up to speed.',
  'host-slowed': 'Leave the processor to the measurement.',
  disturbed: 'End the other program on the device.',
}

/** Samples were taken while the device was throttled, slow, or shared. */
const rule: AdviceRule = {
  id: 'disturbed',
  title: 'Throttled or disturbed',
  find: ({ rows, details }) => {
    const found = rows.filter(isMeasured).flatMap((row) => {
      const { labels = [], taken = 0 } = details?.get(row.id) ?? {}
      return [...new Set(labels.map(({ kind }) => kind))].flatMap((kind) => {
        const own = labels.filter((label) => label.kind === kind)
        const share = labelledMask(own, taken).reduce((sum, one) => sum + one, 0) / taken
        return share > SHARE ? [{ row, kind, share, words: describeLabels(own, taken) }] : []
      })
    })
    return groupBy(found, ({ row, kind }) => `${row.case.backend}|${row.case.device}|${kind}`).map((group) => {
      const ordered = [...group].sort((a, b) => b.share - a.share)
      const { row, kind, words } = ordered[0]!
      return {
        rule: rule.id,
        severity: 'warning',
        rows: ordered.map((one) => one.row.id),
        sentence: `${caseWords(row.case)}${andOthers(group.length - 1, 'case', 'cases')} on this device: ${words.slice(0, 200)} samples. ${CURES[kind]}`,
        evidence: [{ name: 'Samples of the first case', value: words.slice(0, 400) }],
      }
    })
  },
}
export default rule
