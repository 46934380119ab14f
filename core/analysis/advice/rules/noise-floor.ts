import { noiseFloorText } from '../../../session/environment'
import { formatPercent, formatRatio } from '../../../units'
import { andOthers, caseWords, groupBy } from '../group'
import { rivals } from '../rivals'
import type { AdviceRule } from '../types'

/** Implementations that differ by less than the noise floor of the device, however narrow the intervals are. */
const rule: AdviceRule = {
  id: 'noise-floor',
  title: 'Difference below the noise floor',
  find: ({ rows, environment }) => {
    const { noiseFloors = [] } = environment ?? {}
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
        sentence: `${caseWords(row.case)}: ${other.case.impl} measured ${formatRatio(speedup.ratio)} faster, which is below the noise floor of ${formatPercent(floor.ratioP95)} on this device. Do not rely on this difference${andOthers(group.length - 1, 'difference', 'differences')} before an interleaved (ABBA) measurement confirms it.`,
        evidence: [
          { name: 'Ratio of medians', value: `${formatRatio(speedup.ratio)} (${formatRatio(speedup.low)} to ${formatRatio(speedup.high)})` },
          { name: 'Noise floor', value: noiseFloorText(floor) },
        ],
      }
    })
  },
}
export default rule
