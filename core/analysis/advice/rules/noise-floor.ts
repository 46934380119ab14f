import { noiseFloorText } from '../../../session/noise-floors'
import { formatPercent, formatRatio } from '../../../units'
import { andOthers, caseWords, groupBy } from '../group'
import { rivals } from '../rivals'
import type { AdviceRule } from '../types'

/** Implementations differ by less than this device differs from itself, however narrow the intervals are. */
const rule: AdviceRule = {
  id: 'noise-floor',
  title: 'Difference within the noise',
  find: ({ rows, noiseFloors = [] }) => {
    const found = rivals(rows).flatMap(({ row, other, speedup }) => {
      const floor = noiseFloors.find((one) => one.backend === row.case.backend && one.device === row.case.device)
      const seems = speedup.low !== undefined && speedup.low > 1
      return floor && seems && speedup.ratio - 1 < floor.ratioP95 ? [{ row, other, speedup, floor }] : []
    })
    return groupBy(found, ({ row }) => `${row.case.backend}|${row.case.device}`).map((group) => {
      const { row, other, speedup, floor } = group[0]!
      return {
        rule: rule.id,
        severity: 'info',
        rows: [...new Set(group.flatMap((pair) => [pair.row.id, pair.other.id]))],
        sentence: `${caseWords(row.case)} seems ${formatRatio(speedup.ratio)} as slow as ${other.case.impl}, but cases compared with themselves differ by ${formatPercent(floor.ratioP95)} here: take it${andOthers(group.length - 1, 'difference', 'differences')} for none until measured by turns.`,
        evidence: [
          { name: 'Ratio of medians', value: `${formatRatio(speedup.ratio)} (${formatRatio(speedup.low)} to ${formatRatio(speedup.high)})` },
          { name: 'Noise floor', value: noiseFloorText(floor) },
        ],
      }
    })
  },
}
export default rule
