import { formatBandwidth, formatFlops, formatPercent, formatTime, ratioWords } from '../../../units'
import { caseWords, groupBy, kernelKey, withGain, placed, graphLaunchNs, type Placed } from '../group'
import type { AdviceRule, AdviceInput } from '../types'

/** Streaming kernels reach 80 to 95 % of the copy bandwidth; below this share the limit is something else. */
const LOW_SHARE_OF_BANDWIDTH = 0.6
/** Below half of it the possible gain is large: a warning. */
const VERY_LOW_SHARE_OF_BANDWIDTH = 0.5
/** From this share of the time on, the latency rule covers the case. */
const LAUNCH = 0.5

/** Memory-bound cases far below the measured memory bandwidth. */
const memoryBound: AdviceRule = {
  id: 'memory-bound',
  title: 'Low share of memory bandwidth',
  find: (input) => {
    const poor = placed(input).flatMap((one) => {
      const { bound, efficiency } = one.point
      return bound === 'memory' && efficiency !== undefined && efficiency < LOW_SHARE_OF_BANDWIDTH && (one.launchShare ?? 0) < LAUNCH ? [{ ...one, factor: 1 / efficiency }] : []
    })
    return groupBy(poor, ({ row }) => kernelKey(row.case)).map((group) =>
      withGain(group, 'median time over the time of the minimum memory traffic at the measured bandwidth', ({ row, point, roofs, factor, stale }, others) => ({
        rule: memoryBound.id,
        ...(roofs.cache === undefined ? {} : { title: `Low share of ${roofs.cache} bandwidth` }),
        severity: 1 / factor < VERY_LOW_SHARE_OF_BANDWIDTH ? 'warning' : 'info',
        sentence: `${caseWords(row.case)} is memory bound at ${formatPercent(1 / factor)} of the measured ${roofs.cache ?? 'copy'} bandwidth: up to ${ratioWords(factor)} faster is possible.${others}`,
        evidence: [
          { name: 'Bandwidth', value: formatBandwidth(point.bytesPerSecond) },
          { name: `Measured ${roofs.cache ?? 'copy'} bandwidth`, value: formatBandwidth(roofs.bytesPerSecond) + (stale === undefined ? '' : ` (${stale})`) },
          { name: 'Median', value: formatTime(row.medianNs) },
        ],
      })),
    )
  },
}

/** Tuned matrix products reach 70 to 90 % of the measured peak; below half of it, tuning alone rarely closes the gap. */
const LOW_SHARE_OF_PEAK = 0.5
/** Below a quarter a better algorithm (tiling, matrix units) exists nearly always. */
const VERY_LOW_SHARE_OF_PEAK = 0.25

/** Compute-bound cases far below the measured compute peak. */
const computeBound: AdviceRule = {
  id: 'compute-bound',
  title: 'Low share of compute peak',
  find: (input) => {
    const poor = placed(input).flatMap((one) => {
      const { bound, efficiency } = one.point
      return bound === 'compute' && efficiency !== undefined && efficiency < LOW_SHARE_OF_PEAK && (one.launchShare ?? 0) < LAUNCH ? [{ ...one, factor: 1 / efficiency }] : []
    })
    return groupBy(poor, ({ row }) => kernelKey(row.case)).map((group) =>
      withGain(group, 'median time over the time the measured peak allows for the operations', ({ row, point, roofs, factor, stale }, others) => ({
        rule: computeBound.id,
        severity: 1 / factor < VERY_LOW_SHARE_OF_PEAK ? 'warning' : 'info',
        sentence: `${caseWords(row.case)} is compute bound at ${formatPercent(1 / factor)} of the measured peak: up to ${ratioWords(factor)} faster is possible.${others}`,
        evidence: [
          { name: 'Rate', value: formatFlops(point.flopsPerSecond) },
          { name: 'Measured peak', value: formatFlops(roofs.flopsPerSecond) + (stale === undefined ? '' : ` (${stale})`) },
          { name: 'Median', value: formatTime(row.medianNs) },
        ],
      })),
    )
  },
}

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
const latencyBound: AdviceRule = {
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
        rule: latencyBound.id,
        severity: 'info',
        sentence: `${caseWords(row.case)} is launch-bound: launch overhead is ${formatPercent(launchShare)} of its time. ${cure} (up to ${ratioWords(factor)} faster).${others}`,
        evidence: [
          { name: 'Median', value: formatTime(row.medianNs) },
          { name: 'Measured launch', value: formatTime(roofs.launchSeconds! * 1e9) + (stale === undefined ? '' : ` (${stale})`) },
          ...(graph ? [{ name: 'Measured launch in a graph', value: formatTime(graphLaunchNs(input, row)) }] : []),
        ],
      }))
    })
  },
}

export default [memoryBound, computeBound, latencyBound]
