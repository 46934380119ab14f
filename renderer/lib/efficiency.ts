import { roofline, roofsOf, type Roofs } from '@core/roofline/roofline'
import type { Ceiling } from '@core/session/types'
import type { RowSource } from '../stores/row-source'

/** Achieved share of what the device's measured ceilings allow for a row; NaN where a ceiling or the time is missing. */
export type Efficiency = (rows: RowSource, row: number) => number

export const noEfficiency: Efficiency = () => NaN

/** Efficiency by the roofline in core; the roofs of each device and dtype are looked up once. */
export function efficiencyFrom(ceilings: readonly Ceiling[]): Efficiency {
  const known = new Map<string, Roofs>()
  return (rows, row) => {
    if (rows.status(row) !== 'ok') return NaN
    const c = rows.case(row)
    const key = `${c.backend}|${c.device}|${c.dtype}`
    let roofs = known.get(key)
    if (!roofs) {
      roofs = roofsOf(ceilings, c, c.dtype)
      known.set(key, roofs)
    }
    return roofline({ bytes: rows.number(row, 'bytes'), flops: rows.number(row, 'flops'), medianNs: rows.number(row, 'medianNs') }, roofs)?.efficiency ?? NaN
  }
}
