import { ceilingKind, ceilingTitle, ceilingValue, compareKinds, intervalOf, type KnownCeiling } from '../../../roofline/ceilings'
import { datasheetValue } from '../../../roofline/datasheet'
import { ABSENT, formatInterval, formatPercent } from '../../../units'
import { numberCell, type ReportTable } from './table'

/** The measured limits of the session's devices beside their datasheets; without the points of the copy curve, which are many. */
export function ceilingsTable(ceilings: readonly KnownCeiling[]): ReportTable {
  const shown = ceilings.filter(({ kind }) => ceilingKind(kind).is !== 'copy-size').sort((a, b) => a.device.localeCompare(b.device, 'en') || compareKinds(a.kind, b.kind))
  return {
    heads: [{ title: 'device' }, { title: 'ceiling' }, { title: 'measured', numeric: true }, { title: '±95 %', numeric: true }, { title: 'datasheet', numeric: true }, { title: 'share', numeric: true }, { title: 'measured on' }],
    rows: shown.map((ceiling) => {
      const { low, high } = intervalOf(ceiling)
      const sheet = datasheetValue(ceiling.deviceName, ceiling.kind)
      return [
        { text: `${ceiling.deviceName} (${ceiling.device})` },
        { text: ceilingTitle(ceiling.kind) },
        numberCell(ceilingValue(ceiling), ceiling.value),
        numberCell(formatInterval(ceiling.value, low, high), low === undefined || high === undefined ? undefined : (high - low) / ceiling.value),
        numberCell(sheet === undefined ? ABSENT : ceilingValue({ unit: ceiling.unit, value: sheet }), sheet),
        numberCell(formatPercent(sheet && ceiling.value / sheet), sheet && ceiling.value / sheet),
        { text: `${ceiling.measuredAt.slice(0, 10)}${ceiling.stale === undefined ? '' : `, ${ceiling.stale}`}` },
      ]
    }),
  }
}
