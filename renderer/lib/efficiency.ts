import type { Ceiling } from '@core/session/types'
import type { RowSource } from '../stores/row-source'

/** Achieved share of what the device's measured ceilings allow for a row; NaN where a ceiling or the time is missing. */
export type Efficiency = (rows: RowSource, row: number) => number

export const noEfficiency: Efficiency = () => NaN

/**
 * Least time by the roofline (the larger of bytes / copy bandwidth and flops / peak rate) divided by the measured time.
 * Williams, Waterman, Patterson, "Roofline", CACM 2009. Without a peak for the dtype the bandwidth roof alone counts.
 */
export function efficiencyFrom(ceilings: readonly Ceiling[]): Efficiency {
  const perNs = new Map(ceilings.map((c) => [`${c.backend}|${c.device}|${c.kind}`, c.value / 1e9]))
  return (rows, row) => {
    if (rows.status(row) !== 'ok') return NaN
    const c = rows.case(row)
    const copy = perNs.get(`${c.backend}|${c.device}|copy`)
    if (copy === undefined) return NaN
    const peak = perNs.get(`${c.backend}|${c.device}|flops:${c.dtype}`)
    const least = Math.max(rows.number(row, 'bytes') / copy, peak === undefined ? 0 : rows.number(row, 'flops') / peak)
    const share = least / rows.number(row, 'medianNs')
    return Number.isFinite(share) && share > 0 ? share : NaN
  }
}
