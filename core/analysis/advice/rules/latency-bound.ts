import { formatPercent, formatRatio, formatTime } from '../../../units'
import { caseWords, groupBy, withGain } from '../group'
import { graphLaunchNs, placed, type Placed } from '../placed'
import type { AdviceInput, AdviceRule } from '../types'

/** Share of the time from which a case counts as launch-bound. */
const MIN_LAUNCH_SHARE = 0.5

/** The time of a call without its launch, or with the launch of a graph: never less than the roofs allow. */
function bestNs(input: AdviceInput, { row, point, roofs }: Placed): { ns: number; graph: boolean } {
  const launchNs = roofs.launchSeconds! * 1e9
  const graphNs = row.case.mode === 'hot' ? graphLaunchNs(input, row) : undefined
  const graph = graphNs !== undefined && graphNs < launchNs
  const work = Math.max(row.medianNs - launchNs, (point.efficiency ?? 0) * row.medianNs, 0)
  // A fused call still costs its work.
  return { ns: Math.max(graph ? work + graphNs : work, row.medianNs / 100), graph }
}

/** Launch overhead takes most of the time. */
const rule: AdviceRule = {
  id: 'latency-bound',
  title: 'Launch-bound',
  find: (input) => {
    const found = placed(input).flatMap((one) => {
      if (one.launchShare === undefined || one.launchShare < MIN_LAUNCH_SHARE || one.point.bound !== 'latency') return []
      const { ns, graph } = bestNs(input, one)
      const factor = one.row.medianNs / ns
      return factor > 1 ? [{ ...one, graph, factor }] : []
    })
    return groupBy(found, ({ row, graph }) => [row.case.backend, row.case.device, row.case.impl, row.case.mode, graph].join('|')).map((group) => {
      const { graph } = group[0]!
      const cure = graph ? 'Put calls into a CUDA graph, or fuse them' : 'Fuse it with neighbouring calls, or give each call more work'
      return withGain(group, graph ? 'median over the median with the launch replaced by that measured inside a graph' : 'median over what is left of it without the measured launch', ({ row, factor, launchShare, roofs, stale }, others) => ({
        rule: rule.id,
        severity: 'info',
        sentence: `${caseWords(row.case)} is launch-bound: launch overhead is ${formatPercent(launchShare)} of its time. ${cure} (up to ${formatRatio(factor)} faster).${others}`,
        evidence: [
          { name: 'Median', value: formatTime(row.medianNs) },
          { name: 'Measured launch', value: formatTime(roofs.launchSeconds! * 1e9) + (stale === undefined ? '' : ` (${stale})`) },
          ...(graph ? [{ name: 'Measured launch in a graph', value: formatTime(graphLaunchNs(input, row)) }] : []),
        ],
      }))
    })
  },
}
export default rule
