import { formatPercent, formatRatio, formatTime } from '../../../units'
import { caseWords, groupBy, withGain } from '../group'
import { graphLaunchNs, placed, type Placed } from '../placed'
import type { AdviceInput, AdviceRule } from '../types'

/** From here on launching takes more than the work. */
const MOST_OF_IT = 0.5

/** What a call would take without its launch, or with that of a graph: never less than the roofs allow the work. */
function bestNs(input: AdviceInput, { row, point, roofs }: Placed): { ns: number; graph: boolean } {
  const launchNs = roofs.launchSeconds! * 1e9
  const graphNs = row.case.mode === 'hot' ? graphLaunchNs(input, row) : undefined
  const graph = graphNs !== undefined && graphNs < launchNs
  const work = Math.max(row.medianNs - launchNs, (point.efficiency ?? 0) * row.medianNs, 0)
  // Alone in its launch a call cannot be free; merged into another it costs its work.
  return { ns: Math.max(graph ? work + graphNs : work, row.medianNs / 100), graph }
}

/** Most of the time goes into starting the call. */
const rule: AdviceRule = {
  id: 'latency-bound',
  title: 'Mostly launch',
  find: (input) => {
    const found = placed(input).flatMap((one) => {
      if (one.launchShare === undefined || one.launchShare < MOST_OF_IT || one.point.bound !== 'latency') return []
      const { ns, graph } = bestNs(input, one)
      const factor = one.row.medianNs / ns
      return factor > 1 ? [{ ...one, graph, factor }] : []
    })
    return groupBy(found, ({ row, graph }) => [row.case.backend, row.case.device, row.case.impl, row.case.mode, graph].join('|')).map((group) => {
      const { graph } = group[0]!
      const cure = graph ? 'put calls into a CUDA graph, or fuse them' : 'fuse it with its neighbours, or give it more work per call'
      return withGain(group, graph ? 'median over the median with the launch replaced by that measured inside a graph' : 'median over what is left of it without the measured launch', ({ row, factor, launchShare, roofs, stale }, others) => ({
        rule: rule.id,
        severity: 'info',
        sentence: `${caseWords(row.case)} is latency bound: ${formatPercent(launchShare)} of the time is launch; ${cure} (up to ${formatRatio(factor)})${others}.`,
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
