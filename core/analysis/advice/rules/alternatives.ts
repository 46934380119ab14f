import { caseId, type Params } from '../../../case'
import { cacheSizes } from '../../../session/environment'
import { formatPercent, formatTime, ratioWords } from '../../../units'
import { answerInterval } from '../../../compare'
import { speedupOf } from '../../timing'
import { shapeText } from '../../../case-words'
import { caseWords, groupBy, withGain, kernelKey, isMeasured, seriesKey, placed, rivals, type MeasuredRow } from '../group'
import type { AdviceRule, AdviceInput } from '../types'

/** Smallest speedup worth a change of implementation; a single run's interval does not support a smaller claim. */
const MIN_SPEEDUP = 1.1

/** Another implementation on the same device is faster. */
const fasterImplementation: AdviceRule = {
  id: 'faster-implementation',
  title: 'Another implementation is faster',
  find: ({ rows }) => {
    const found = rivals(rows).flatMap((pair) => (pair.speedup.low !== undefined && pair.speedup.low > MIN_SPEEDUP ? [{ ...pair, factor: pair.speedup.ratio }] : []))
    return groupBy(found, ({ row, other }) => [row.case.backend, row.case.device, row.case.impl, other.case.impl].join('|')).map((group) =>
      withGain(group, 'ratio of the medians of both implementations', ({ row, other, speedup }, others) => ({
        rule: fasterImplementation.id,
        severity: 'info',
        title: `${other.case.impl} is faster than ${row.case.impl}`,
        sentence: `${other.case.impl} is ${ratioWords(speedup.ratio)} faster than ${row.case.impl} here (95 % CI ${answerInterval(speedup.low!, speedup.high!)}): ${caseWords(row.case)}.${others}`,
        evidence: [
          { name: row.case.impl, value: formatTime(row.medianNs) },
          { name: other.case.impl, value: formatTime(other.medianNs) },
        ],
      })),
    )
  },
}

/** DRAM is two to three times slower than the last-level cache: a larger ratio has another cause too. */
const MAX_MEMORY_RATIO = 4
/** DRAM bandwidth explains a cold call that takes at most this many times its roof time. */
const MAX_ROOF_RATIO = 2

/** Cold calls take far longer than hot calls, and DRAM bandwidth does not explain it. */
const coldHot: AdviceRule = {
  id: 'cold-hot',
  title: 'Cold far slower than hot',
  find: (input) => {
    const all = placed(input)
    const hot = new Map(all.filter(({ row }) => row.case.mode === 'hot').map(({ row }) => [caseId(row.case), row]))
    const found = all.flatMap((one) => {
      const { row, point } = one
      const partner = row.case.mode === 'cold' ? hot.get(caseId({ ...row.case, mode: 'hot' })) : undefined
      const ratio = partner && speedupOf(partner, row)
      if (!partner || ratio?.low === undefined || ratio.low < MAX_MEMORY_RATIO || point.efficiency === undefined || point.efficiency > 1 / MAX_ROOF_RATIO) return []
      // The launch after a flush can explain it; the latency rule covers that.
      if ((one.launchShare ?? 0) > 0.5) return []
      return [{ ...one, partner, ratio, factor: ratio.ratio }]
    })
    return groupBy(found, ({ row }) => kernelKey(row.case)).map((group) =>
      withGain(group, 'cold median over hot median', ({ row, partner, ratio }, others) => ({
        rule: coldHot.id,
        severity: 'info',
        sentence: `${caseWords(row.case)} takes ${ratioWords(ratio.ratio)} its hot time (95 % CI ${ratioWords(ratio.low)} to ${ratioWords(ratio.high)}), more than DRAM bandwidth explains. Likely causes: page tables, instruction cache misses, idle clocks. Keep it warm or batch calls.${others}`,
        evidence: [
          { name: 'Cold', value: formatTime(row.medianNs) },
          { name: 'Hot', value: formatTime(partner.medianNs) },
        ],
      })),
    )
  },
}

/** Differences between neighbouring sizes below this are ordinary: partial blocks and waves. */
const MIN_DIFFERENCE = 0.1
/** Row strides that are multiples of this many bytes map to few cache sets and few memory banks. */
const STRIDE_BYTES = 4096
/** Tiles of matrix kernels are multiples of this wide. */
const TILE = 64
/** A cache serves part of a working set between its size divided and multiplied by this (replacement, other data). */
const CACHE_MARGIN = 2

interface Neighbours {
  row: MeasuredRow
  factor: number
  neighbours: MeasuredRow[]
}

const numbersOf = (params: Params) => Object.entries(params).filter((entry): entry is [string, number] => typeof entry[1] === 'number')

/**
 * Rows of a series in lines along which sizes can be compared: one extent varies, or all do in proportion. Each in order
 * of size; of a row measured again the last counts.
 */
function linesOf(series: readonly MeasuredRow[]): MeasuredRow[][] {
  const rows = [...new Map(series.map((row) => [JSON.stringify(numbersOf(row.case.params)), row])).values()]
  const names = numbersOf(rows[0]!.case.params).map(([name]) => name)
  const others = (row: MeasuredRow, but: string) => numbersOf(row.case.params).filter(([name]) => name !== but).map(([name, value]) => `${name}=${value}`).join()
  const proportions = (row: MeasuredRow) => {
    const [first, ...rest] = numbersOf(row.case.params)
    return rest.map(([, value]) => (value / first![1]).toPrecision(6)).join()
  }
  const lines = names.length > 1 ? [...names.flatMap((name) => groupBy(rows, (row) => others(row, name))), ...groupBy(rows, proportions)] : [rows]
  return lines.filter((line) => line.length > 2).map((line) => line.sort((a, b) => workOf(a) - workOf(b)))
}

/** The quantity that time grows with: FLOP or bytes, whichever is larger. */
const workOf = (row: MeasuredRow): number => Math.max(row.flops ?? 0, row.bytes ?? 0)

/**
 * Whether a cache boundary explains a difference between these neighbouring sizes: their working sets lie on both sides
 * of a cache, or one lies near its size. Cold calls find only the last-level cache partly filled, with what they write;
 * rotated calls find none of their data in a cache.
 */
function crossesCache(environment: AdviceInput['environment'], [a, b]: readonly MeasuredRow[]): boolean {
  const { backend, device, mode } = a!.case
  const sizes = environment && mode !== 'rotated' ? cacheSizes(environment, backend, device) : []
  return (mode === 'cold' ? sizes.slice(-1) : sizes).some((bytes) => (a!.bytes ?? 0) < bytes * CACHE_MARGIN && (b!.bytes ?? 0) > bytes / CACHE_MARGIN)
}

/** Rows whose time per unit of work is above that of both neighbours, beyond the intervals of all three. */
function peaksOf(line: readonly MeasuredRow[]): Neighbours[] {
  return line.slice(1, -1).flatMap((row, i) => {
    const neighbours = [line[i]!, line[i + 2]!]
    if ([row, ...neighbours].some((one) => one.ciLowNs === undefined || one.ciHighNs === undefined)) return []
    const sure = neighbours.every((other) => row.ciLowNs! / workOf(row) > (other.ciHighNs! / workOf(other)) * (1 + MIN_DIFFERENCE))
    // Straight line through the neighbours on log axes.
    const [a, b] = neighbours as [MeasuredRow, MeasuredRow]
    const share = Math.log(workOf(row) / workOf(a)) / Math.log(workOf(b) / workOf(a))
    const expected = Math.exp(Math.log(a.medianNs) + share * Math.log(b.medianNs / a.medianNs))
    return sure && expected < row.medianNs ? [{ row, factor: row.medianNs / expected, neighbours }] : []
  })
}

type Cause = 'stride' | 'tile' | 'unknown'

/** The likely cause, by the shape alone. */
function causeOf(row: MeasuredRow): Cause {
  const extents = numbersOf(row.case.params).map(([, value]) => value)
  const bytes = row.case.dtype === 'f16' || row.case.dtype === 'bf16' ? 2 : 4
  if (extents.length > 1 && (extents.at(-1)! * bytes) % STRIDE_BYTES === 0) return 'stride'
  return extents.length > 2 && extents.some((value) => value % TILE !== 0) ? 'tile' : 'unknown'
}

const CAUSES: Readonly<Record<Cause, string>> = {
  stride: ` Its row stride is a multiple of ${STRIDE_BYTES} bytes, so rows share cache sets: try padding them.`,
  tile: ` An extent is not a multiple of ${TILE}, so edge tiles are partly empty: try padding it.`,
  unknown: '',
}

/** Sizes that are slower than the sizes on both sides suggest, where no cache boundary explains it. One finding per implementation and cause. */
const offTrend: AdviceRule = {
  id: 'off-trend',
  title: 'Slower than neighbouring sizes',
  find: ({ rows, environment }) => {
    const series = groupBy(rows.filter((row): row is MeasuredRow => isMeasured(row) && workOf(row as MeasuredRow) > 0), (row) => seriesKey(row.case))
    const peaks = series.flatMap((one) => [...new Map(linesOf(one).flatMap(peaksOf).map((peak) => [peak.row.id, peak])).values()]).filter(({ neighbours }) => !crossesCache(environment, neighbours))
    return groupBy(peaks, ({ row }) => [row.case.backend, row.case.device, row.case.impl, causeOf(row)].join('|')).map((group) =>
      withGain(group, 'ratio of the median to the line through the neighbouring sizes on log axes', ({ row, factor, neighbours }, others) => ({
        rule: offTrend.id,
        severity: 'warning',
        sentence: `${caseWords(row.case)} takes ${formatPercent(factor - 1)} longer than the sizes on both sides suggest (up to ${ratioWords(factor)} faster is possible).${CAUSES[causeOf(row)]}${others}`,
        evidence: [neighbours[0]!, row, neighbours[1]!].map((one) => ({ name: shapeText(one.case), value: formatTime(one.medianNs) })),
      })),
    )
  },
}

export default [fasterImplementation, coldHot, offTrend]
