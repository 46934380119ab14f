import type { BenchmarkCase } from '@core/case'
import type { Grade, Status } from '@core/result'
import type { Row, RowNumber } from '@core/session/rows'

/**
 * Results by column, as tables and charts read them; rows stand in the order they were measured and are only appended.
 * Only `version` is reactive: read it in a computed or an effect, then read as many columns as needed.
 * It rises at most ten times a second while a run is going.
 */
export interface RowSource {
  readonly version: number
  readonly length: number
  id(row: number): string
  case(row: number): BenchmarkCase
  status(row: number): Status
  grade(row: number): Grade | undefined
  message(row: number): string | undefined
  /** NaN where the result has no such number. */
  number(row: number, name: RowNumber): number
  /** One element per row. A view that the next append may replace; do not keep or change it. */
  column(name: RowNumber): Float64Array
  /** The row of this result, or undefined. */
  indexOf(id: string): number | undefined
  /** The row as an object; for a handful of rows, not for loops over all. */
  row(row: number): Row
}
