import type { Params } from '../../../case'
import { formatPercent, formatRatio, formatTime } from '../../../units'
import { groupBy, isMeasured, seriesKey, seriesWords, shapeWords, withGain, type MeasuredRow } from '../group'
import type { AdviceRule } from '../types'

/** Differences of neighbouring sizes below this are ordinary: edges of blocks and waves. */
const NOTABLE = 0.1
/** Strides that are multiples of this many bytes fall on few sets of a cache and few banks of memory. */
const STRIDE_BYTES = 4096
/** Tiles of matrix kernels are multiples of this wide. */
const TILE = 64

interface Neighbours {
  row: MeasuredRow
  factor: number
  neighbours: MeasuredRow[]
}

const numbersOf = (params: Params) => Object.entries(params).filter((entry): entry is [string, number] => typeof entry[1] === 'number')

/**
 * Rows of a series in lines along which sizes can be compared: one extent varies, or all do in proportion. Each in order
 * of size; a row measured again counts once, the last.
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

/** What time is expected to grow with. */
const workOf = (row: MeasuredRow): number => Math.max(row.flops ?? 0, row.bytes ?? 0)

/**
 * Where the time of one unit of work is above that of both neighbours, beyond the intervals of all three. The end of a
 * cache raises it for good and the share of the launch lowers it for good: neither makes such a peak.
 */
function peaksOf(line: readonly MeasuredRow[]): Neighbours[] {
  return line.slice(1, -1).flatMap((row, i) => {
    const neighbours = [line[i]!, line[i + 2]!]
    if ([row, ...neighbours].some((one) => one.ciLowNs === undefined || one.ciHighNs === undefined)) return []
    const sure = neighbours.every((other) => row.ciLowNs! / workOf(row) > (other.ciHighNs! / workOf(other)) * (1 + NOTABLE))
    // Straight line through the neighbours on log axes.
    const [a, b] = neighbours as [MeasuredRow, MeasuredRow]
    const share = Math.log(workOf(row) / workOf(a)) / Math.log(workOf(b) / workOf(a))
    const expected = Math.exp(Math.log(a.medianNs) + share * Math.log(b.medianNs / a.medianNs))
    return sure && expected < row.medianNs ? [{ row, factor: row.medianNs / expected, neighbours }] : []
  })
}

/** What often makes one size worse than those beside it. */
function suspect(row: MeasuredRow): string {
  const { params } = row.case
  const extents = numbersOf(params).map(([, value]) => value)
  const bytes = row.case.dtype === 'f16' || row.case.dtype === 'bf16' ? 2 : 4
  if (extents.length > 1 && (extents.at(-1)! * bytes) % STRIDE_BYTES === 0) return ` Its rows lie a multiple of ${STRIDE_BYTES} bytes apart, so they share sets of the cache: try padding them.`
  if (extents.length > 2 && extents.some((value) => value % TILE !== 0)) return ` An extent is no multiple of ${TILE}, so tiles at the edge are partly empty: try padding it.`
  return ''
}

/** One size is slower than the sizes on both of its sides suggest. */
const rule: AdviceRule = {
  id: 'off-trend',
  title: 'Slower than its neighbour sizes',
  find: ({ rows }) =>
    groupBy(rows.filter((row): row is MeasuredRow => isMeasured(row) && workOf(row as MeasuredRow) > 0), (row) => seriesKey(row.case)).flatMap((series) => {
      const peaks = [...new Map(linesOf(series).flatMap(peaksOf).map((peak) => [peak.row.id, peak])).values()]
      if (peaks.length === 0) return []
      return withGain(peaks, 'median over the straight line through the neighbouring sizes on log axes', ({ row, factor, neighbours }, others) => ({
        rule: rule.id,
        severity: 'warning',
        sentence: `${seriesWords(row.case)} takes ${formatPercent(factor - 1)} longer at ${shapeWords(row.case)} than the sizes on both sides suggest (up to ${formatRatio(factor)})${others}.${suspect(row)}`,
        evidence: [neighbours[0]!, row, neighbours[1]!].map((one) => ({ name: shapeWords(one.case), value: formatTime(one.medianNs) })),
      }))
    }),
}
export default rule
