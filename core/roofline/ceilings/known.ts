import type { Ceiling } from '../../session/types'

/** A ceiling of a device at hand, with what speaks against taking it for today's. */
export interface KnownCeiling extends Ceiling {
  /** Set where the driver has changed since: `measured under driver 550.54, now 570.86`. */
  stale?: string
}

/** What identifies a device here: another machine's `cuda:0` is another GPU. */
export interface DeviceIdentity {
  backend: string
  id: string
  name: string
  driver?: string | undefined
}

/** The newest of these by the time they were measured. */
const newest = (ceilings: readonly Ceiling[]): Ceiling | undefined => ceilings.reduce<Ceiling | undefined>((last, c) => (last && last.measuredAt >= c.measuredAt ? last : c), undefined)

function known(of: readonly Ceiling[], driver: string | undefined): KnownCeiling[] {
  const exact = of.find((c) => c.driver === driver)
  if (exact) return [exact]
  const last = newest(of)
  if (!last) return []
  // Where either side does not know its driver there is no telling that it changed.
  if (driver === undefined || last.driver === undefined) return [last]
  return [{ ...last, stale: `measured under driver ${last.driver}, now ${driver}` }]
}

/**
 * The ceilings that were measured on these very devices, by name and driver, one of each kind. Where a kind has none
 * of the device's driver, the newest of another driver stands in and says so in `stale`.
 */
export function ceilingsOn(ceilings: readonly Ceiling[], devices: readonly DeviceIdentity[]): KnownCeiling[] {
  return devices.flatMap((device) => {
    const own = ceilings.filter((c) => c.backend === device.backend && c.device === device.id && c.deviceName === device.name)
    return [...new Set(own.map((c) => c.kind))].flatMap((kind) => known(own.filter((c) => c.kind === kind), device.driver))
  })
}
