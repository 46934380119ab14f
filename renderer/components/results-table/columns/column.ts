import type { BenchmarkCase } from '@core/case'
import { formatInteger } from '@core/units'
import type { Quantity } from '../../../lib/column-format'
import type { RowSource } from '../../../stores/rows/result-rows'

interface ColumnBase {
  id: string
  title: string
  /** What the header tells on hover. */
  about: string
  /** px */
  width: number
  /** Hidden until chosen. */
  optional?: boolean
  /** The unit alone says what it is in the header. */
  unitOnly?: boolean
  /** The title where it depends on the rows. */
  head?(rows: RowSource): string
  /** What the whole table comes to, in a sentence. */
  summary?(rows: RowSource, efficiency: Efficiency): string | undefined
  /** More about a cell that has a value. */
  hover?(rows: RowSource, row: number, efficiency: Efficiency): string | undefined
  /** Why a right result has nothing in this column, in one sentence. */
  absence?(rows: RowSource, row: number, efficiency: Efficiency): string | undefined
}

/** Words; few distinct ones, so that ranking them is cheap. */
export interface TextColumn extends ColumnBase {
  kind: 'text'
  text(rows: RowSource, row: number, efficiency: Efficiency): string
  /** Order where the alphabet's is wrong (shapes by size); NaN stands last. */
  rank?(rows: RowSource, row: number, efficiency: Efficiency): number
  mono?: boolean
}

export interface NumberColumn extends ColumnBase {
  kind: 'number'
  quantity: Quantity
  /** Right after each number: `x`. */
  suffix?: string
  /** In the quantity's base unit; NaN where there is none. */
  value(rows: RowSource, row: number, efficiency: Efficiency): number
  /** Why the number is unreliable, in one sentence: shown dimmed. */
  doubt?(rows: RowSource, row: number): string | undefined
  /** 95 % CI of the value, copied beside it. */
  interval?(rows: RowSource, row: number): { low: number; high: number } | undefined
}

export type Column = TextColumn | NumberColumn

/** Parameters in full, for hover: `n = 16,777,216`. */
export const exactShape = (c: BenchmarkCase): string =>
  Object.entries(c.params).map(([key, value]) => `${key} = ${typeof value === 'number' ? formatInteger(value) : String(value)}`).join(', ')

/** Achieved share of what the device's measured ceilings allow for a row; NaN where a ceiling or the time is missing. */
export interface Efficiency {
  (rows: RowSource, row: number): number
  /** Why the share of a row is above 100 %, or that its ceiling is uncertain; undefined for neither. */
  remark(rows: RowSource, row: number): string | undefined
  /** Minimum memory traffic per second as a share of the measured memory bandwidth for such traffic; NaN where either is not known. */
  bandwidthShare(rows: RowSource, row: number): number
}
