import { describeLabels, labelledMask } from '../../../measure/result/labels'
import type { SampleLabel } from '../../../result'
import { andOthers, caseWords, groupBy, isMeasured } from '../group'
import type { AdviceRule } from '../types'

/** Largest share of labelled samples that needs no remark; the grade uses the same limit. */
const MAX_SHARE = 0.1

const CURES: Readonly<Record<SampleLabel['kind'], string>> = {
  throttled: 'Cool the device or raise its power limit, then measure again.',
  'slow-clock': 'Lock the clocks, or give the device more warm-up.',
  'host-slowed': 'Close other programs that use the processor.',
  disturbed: 'Close the other program on the device.',
}

/** Cases with samples taken while the device was throttled, slow or shared. */
const rule: AdviceRule = {
  id: 'disturbed',
  title: 'Throttled or disturbed',
  find: ({ rows, details }) => {
    const found = rows.filter(isMeasured).flatMap((row) => {
      const { labels = [], taken = 0 } = details?.get(row.id) ?? {}
      return [...new Set(labels.map(({ kind }) => kind))].flatMap((kind) => {
        const own = labels.filter((label) => label.kind === kind)
        const share = labelledMask(own, taken).reduce((sum, one) => sum + one, 0) / taken
        return share > MAX_SHARE ? [{ row, kind, share, words: describeLabels(own, taken) }] : []
      })
    })
    return groupBy(found, ({ row, kind }) => `${row.case.backend}|${row.case.device}|${kind}`).map((group) => {
      const ordered = [...group].sort((a, b) => b.share - a.share)
      const { row, kind, words } = ordered[0]!
      return {
        rule: rule.id,
        severity: 'warning',
        rows: ordered.map((one) => one.row.id),
        sentence: `${caseWords(row.case)}${andOthers(group.length - 1)} on this device: ${words.slice(0, 200)} samples. ${CURES[kind]}`,
        evidence: [{ name: 'Samples of the first case', value: words.slice(0, 400) }],
      }
    })
  },
}
export default rule
