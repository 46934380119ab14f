import { exactShape, type Efficiency, type Column } from './column'
import { statusWord } from '@core/result'
import { roofFinder, roofline, uncertainText } from '@core/roofline/roofline'
import type { Ceiling } from '@core/session/types'
import { ABSENT, type Unit } from '@core/units'
import { alignedText, hasOneUnit, typicalValue, unitFor, type Quantity } from '../../../lib/column-format'
import type { RowSource } from '../../../stores/rows/result-rows'

/** A shown column with the one unit its numbers stand in. */
export interface TableColumn {
  column: Column
  width: number
  unit: Unit
  /** In the header, where the column's own title says too little. */
  title?: string
}

/** Stands for the median of an empty column: the units most results have. */
const EMPTY_TYPICAL: Partial<Record<Quantity, number>> = { time: 1e3, bandwidth: 1e9, 'flop-rate': 1e9, bytes: 2 ** 20 }
export const NO_UNIT: Unit = { name: '', size: 1 }

/** The unit of a column over these rows, that of their median. The details of a row use the same, so that 3650 GB/s does not stand beside 3.65 TB/s. */
export function columnUnit(column: Column, rows: RowSource, efficiency: Efficiency): Unit {
  if (column.kind !== 'number') return NO_UNIT
  const typical = hasOneUnit(column.quantity) ? undefined : typicalValue(rows.length, (i) => column.value(rows, i, efficiency))
  return unitFor(column.quantity, typical ?? EMPTY_TYPICAL[column.quantity])
}

export interface Cell {
  text: string
  /** Invisible digits after the text that keep decimal points in line. */
  pad: string
  hover: string | undefined
  /** The number is not to be taken as it stands; `hover` says why. */
  mark?: '*'
  /** The number is unreliable; `hover` says why. */
  dim?: true
  /** In place of a time: how the case ended. */
  ended?: true
}

/** Why there is nothing, in one sentence. */
function absence(column: Column, rows: RowSource, row: number, efficiency: Efficiency): string {
  const status = rows.status(row)
  if (status !== 'ok') return rows.message(row) ?? `No value: the case ended as ${statusWord(status)}.`
  const own = column.absence?.(rows, row, efficiency)
  if (own !== undefined) return own
  if (column.id === 'efficiency') return 'No ceilings are known for the device of this result. Measure them on its machine in Devices.'
  if (column.id === 'ci') return 'Too few samples for a CI.'
  if (column.id === 'verified') return 'The result was not compared with the reference.'
  if (column.id === 'grade') return 'Not graded: too few samples.'
  if (column.id === 'variant') return 'This operation has no variants.'
  if (column.id === 'threads') return 'This backend has no choice of threads.'
  return 'Not recorded for this case.'
}

/** What a cell shows. */
export function cellOf({ column, unit }: TableColumn, rows: RowSource, row: number, efficiency: Efficiency): Cell {
  if (column.kind === 'number') {
    const value = column.value(rows, row, efficiency)
    // The outcome stands where the eye looks for the time, also where the column of the status is out of sight.
    if (!Number.isFinite(value) && column.id === 'median' && !['ok', 'skipped'].includes(rows.status(row))) return { text: rows.status(row) === 'wrong' ? 'failed' : statusWord(rows.status(row)), pad: '', hover: absence(column, rows, row, efficiency), ended: true }
    if (!Number.isFinite(value)) return { text: ABSENT, pad: '', hover: absence(column, rows, row, efficiency) }
    const remark = column.id === 'efficiency' ? efficiency.remark(rows, row) : undefined
    const doubt = column.doubt?.(rows, row)
    const hover = [remark ?? column.hover?.(rows, row, efficiency), doubt].filter(Boolean).join('\n')
    const { text: number, pad } = alignedText(value, column.quantity, unit)
    return { text: `${number}${column.suffix ?? ''}`, pad, hover: hover || undefined, ...(remark ? { mark: '*' } : {}), ...(doubt ? { dim: true } : {}) }
  }
  const text = column.text(rows, row, efficiency)
  if (column.id === 'shape') return { text, pad: '', hover: exactShape(rows.case(row)) }
  if (column.id === 'status') return { text, pad: '', hover: rows.message(row) }
  return text ? { text, pad: '', hover: column.hover?.(rows, row, efficiency) ?? text } : { text: ABSENT, pad: '', hover: absence(column, rows, row, efficiency) }
}

/** Rows as tab-separated text with a header line, as spreadsheets take it. Numbers are in the unit of the header. */
export function tsv(columns: readonly TableColumn[], rows: RowSource, order: Iterable<number>, efficiency: Efficiency): string {
  const clean = (text: string) => text.replace(/[\t\r\n]+/g, ' ')
  const heads = columns.flatMap(({ column, unit, title = column.title }) => [unit.name ? `${title} (${unit.name})` : title, ...(column.kind === 'number' && column.interval ? [`${title}, low`, `${title}, high`] : [])])
  const lines = [heads.join('\t')]
  for (const row of order) {
    const cells = columns.flatMap(({ column, unit }) => {
      if (column.kind === 'text') return [clean(column.text(rows, row, efficiency))]
      const text = (value: number | undefined) => (value !== undefined && Number.isFinite(value) ? String(Number((value / unit.size).toPrecision(9))) : '')
      const ends = column.interval?.(rows, row)
      return [text(column.value(rows, row, efficiency)), ...(column.interval ? [text(ends?.low), text(ends?.high)] : [])]
    })
    lines.push(cells.join('\t'))
  }
  return lines.join('\n')
}

const FROM_CACHE = 'Cache-resident: not comparable with the DRAM roof.'

/** Efficiency by the roofline in core. */
export function efficiencyFrom(ceilings: readonly Ceiling[]): Efficiency {
  const find = roofFinder(ceilings)
  const roofsAt = (rows: RowSource, row: number) => find(rows.case(row))
  const place = (rows: RowSource, row: number) => {
    if (rows.status(row) !== 'ok') return undefined
    return roofline({ bytes: rows.number(row, 'bytes'), flops: rows.number(row, 'flops'), medianNs: rows.number(row, 'medianNs') }, roofsAt(rows, row))
  }
  return Object.assign((rows: RowSource, row: number) => place(rows, row)?.efficiency ?? NaN, {
    remark: (rows: RowSource, row: number) => {
      const point = place(rows, row)
      if (!point?.flag) return point?.uncertain === undefined ? undefined : uncertainText(point.uncertain)
      return point.bound === 'compute' || rows.case(row).mode === 'cold' || roofsAt(rows, row).cache !== undefined ? point.flag : FROM_CACHE
    },
    bandwidthShare: (rows: RowSource, row: number) => {
      const bytesPerSecond = place(rows, row)?.bytesPerSecond
      const roof = roofsAt(rows, row).bytesPerSecond
      return bytesPerSecond && roof ? bytesPerSecond / roof : NaN
    },
  })
}
