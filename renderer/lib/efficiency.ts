import { roofFinder, roofline, uncertainText } from '@core/roofline/roofline'
import type { Ceiling } from '@core/session/types'
import type { RowSource } from '../stores/rows/result-rows'

/** Achieved share of what the device's measured ceilings allow for a row; NaN where a ceiling or the time is missing. */
export interface Efficiency {
  (rows: RowSource, row: number): number
  /** Why the share of a row is above 100 %, or that its ceiling is uncertain; undefined for neither. */
  remark(rows: RowSource, row: number): string | undefined
  /** Minimum memory traffic per second as a share of the measured memory bandwidth for such traffic; NaN where either is not known. */
  bandwidthShare(rows: RowSource, row: number): number
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
      return point.bound === 'compute' || rows.case(row).mode === 'cold' ? point.flag : FROM_CACHE
    },
    bandwidthShare: (rows: RowSource, row: number) => {
      const bytesPerSecond = place(rows, row)?.bytesPerSecond
      const roof = roofsAt(rows, row).bytesPerSecond
      return bytesPerSecond && roof ? bytesPerSecond / roof : NaN
    },
  })
}
