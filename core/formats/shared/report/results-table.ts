import { caseWordsOf } from './case-words'
import { statusWord, type Result } from '../../../result'
import { roofline, roofsOf, uncertainText } from '../../../roofline/roofline'
import { ABSENT, chooseBandwidthUnit, chooseFlopsUnit, chooseTimeUnit, formatIn, formatInterval, formatPercent } from '../../../units'
import type { ExportContext } from '../../types'
import { numberCell, type Cell, type Head, type ReportTable } from './table'

const median = (values: readonly number[]) => (values.length ? [...values].sort((a, b) => a - b)[values.length >> 1] : undefined)

/** Why a result is not ok, or why its figure is not of grade A; each reason once. */
const remarks = ({ message, gradeReasons = [] }: Result, uncertain?: number): string => [...new Set([...(message === undefined ? [] : [message]), ...gradeReasons, ...(uncertain === undefined ? [] : [uncertainText(uncertain)])])].join(' ')

/** One row per result, in the order measured; each numeric column in the unit of its median. */
export function resultsTable(results: readonly Result[], { ceilings }: ExportContext): ReportTable {
  const known = results.flatMap((r) => (r.summary && r.summary.medianNs > 0 ? [{ ns: r.summary.medianNs, r }] : []))
  const time = chooseTimeUnit(median(known.map(({ ns }) => ns)))
  const bandwidth = chooseBandwidthUnit(median(known.map(({ ns, r }) => (r.bytes / ns) * 1e9)))
  const rate = chooseFlopsUnit(median(known.flatMap(({ ns, r }) => (r.flops > 0 ? [(r.flops / ns) * 1e9] : []))))
  const threaded = results.some((r) => r.case.threads !== undefined)
  const computes = known.some(({ r }) => r.flops > 0)
  const columns: { head: Head; cell(r: Result): Cell }[] = [
    { head: { title: 'op', mono: true }, cell: ({ case: c }) => ({ text: c.op }) },
    { head: { title: 'shape', mono: true }, cell: ({ case: c }) => ({ text: caseWordsOf(c).shape }) },
    { head: { title: 'dtype', mono: true }, cell: ({ case: c }) => ({ text: c.dtype }) },
    { head: { title: 'device', mono: true }, cell: ({ case: c }) => ({ text: c.device }) },
    { head: { title: 'impl', mono: true }, cell: ({ case: c }) => ({ text: c.impl }) },
    { head: { title: 'mode', mono: true }, cell: ({ case: c }) => ({ text: c.mode }) },
    ...(threaded ? [{ head: { title: 'threads', numeric: true }, cell: ({ case: c }: Result) => numberCell(c.threads === undefined ? ABSENT : String(c.threads), c.threads) }] : []),
    { head: { title: 'status' }, cell: ({ status }) => (status === 'ok' ? { text: status } : { text: statusWord(status), tone: 'bad' }) },
    { head: { title: `median ${time.name}`, numeric: true }, cell: ({ summary: s }) => numberCell(formatIn(s?.medianNs, time), s?.medianNs) },
    { head: { title: '±95 %', numeric: true }, cell: ({ summary: s }) => numberCell(formatInterval(s?.medianNs, s?.ciLowNs, s?.ciHighNs), s?.ciLowNs === undefined || s.ciHighNs === undefined ? undefined : (s.ciHighNs - s.ciLowNs) / s.medianNs) },
    { head: { title: bandwidth.name, numeric: true }, cell: (r) => rated(placeOf(r, ceilings)?.bytesPerSecond, (v) => formatIn(v, bandwidth)) },
    ...(computes ? [{ head: { title: rate.name, numeric: true }, cell: (r: Result) => rated(placeOf(r, ceilings)?.flopsPerSecond, (v) => formatIn(v, rate)) }] : []),
    { head: { title: 'efficiency', numeric: true }, cell: (r) => rated(placeOf(r, ceilings)?.efficiency, (value) => `${formatPercent(value)}${placeOf(r, ceilings)?.uncertain === undefined ? '' : '*'}`) },
    { head: { title: 'error', numeric: true }, cell: ({ verification: v }) => numberCell(v?.relL2?.toExponential(1) ?? ABSENT, v?.relL2) },
    { head: { title: 'grade' }, cell: ({ grade }) => (grade === 'C' ? { text: grade, tone: 'bad' } : { text: grade ?? ABSENT }) },
    { head: { title: 'remarks', wide: true }, cell: (r) => ({ text: remarks(r, placeOf(r, ceilings)?.uncertain) }) },
  ]
  return { heads: columns.map(({ head }) => head), rows: results.map((r) => columns.map(({ cell }) => cell(r))) }
}

/** A rate or a share; none where there is nothing above zero. */
const rated = (value: number | undefined, format: (value: number | undefined) => string): Cell => numberCell(format(value || undefined), value || undefined)

/** Rates and efficiency; no efficiency of a result that is not right. */
function placeOf({ case: c, status, bytes, flops, summary }: Result, ceilings: ExportContext['ceilings']) {
  return summary && summary.medianNs > 0 ? roofline({ bytes, flops, medianNs: summary.medianNs }, status === 'ok' ? roofsOf(ceilings, c) : {}) : undefined
}
