import { roofFinder, roofline, type RooflinePoint, type Roofs } from '../../roofline/roofline'
import { launchKind } from '../../roofline/ceilings'
import { isMeasured, type MeasuredRow } from './group'
import type { AdviceInput } from './types'

/** A measured row under the roofs of its device. */
export interface Placed {
  row: MeasuredRow
  point: RooflinePoint
  roofs: Roofs
  /** Share of the time that a call which does next to nothing takes; absent where no launch was measured. */
  launchShare?: number
  /** Why a ceiling it is judged by may not be today's. */
  stale?: string
}

/** Every measured row of a device whose ceilings are known. */
export function placed({ rows, ceilings }: AdviceInput): Placed[] {
  const roofsAt = roofFinder(ceilings)
  const known = new Map<string, string | undefined>()
  return rows.filter(isMeasured).flatMap((row): Placed[] => {
    const { backend, device } = row.case
    const key = `${backend}|${device}`
    if (!known.has(key)) known.set(key, ceilings.find((c) => c.backend === backend && c.device === device && c.stale !== undefined)?.stale)
    const stale = known.get(key)
    const roofs = roofsAt(row.case)
    const point = roofline({ bytes: row.bytes ?? 0, flops: row.flops ?? 0, medianNs: row.medianNs }, roofs)
    if (!point) return []
    const launchShare = roofs.launchSeconds === undefined ? undefined : Math.min(1, (roofs.launchSeconds * 1e9) / row.medianNs)
    return [{ row, point, roofs, ...(launchShare === undefined ? {} : { launchShare }), ...(stale === undefined ? {} : { stale }) }]
  })
}

/** Launch cost inside a graph on the device of a row, in ns, where it was measured. */
export const graphLaunchNs = ({ ceilings }: AdviceInput, { case: c }: MeasuredRow): number | undefined => {
  const found = ceilings.find((one) => one.backend === c.backend && one.device === c.device && one.kind === launchKind('graph'))
  return found && found.value * 1e9
}
