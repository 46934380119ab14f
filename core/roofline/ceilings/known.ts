import { forDriver, type Stale } from '../../session/for-driver'
import type { Ceiling } from '../../session/types'

/** A ceiling of a device at hand, with what speaks against taking it for today's. */
export type KnownCeiling = Ceiling & Stale

/** What identifies a device here: another machine's `cuda:0` is another GPU. */
export interface DeviceIdentity {
  backend: string
  id: string
  name: string
  driver?: string | undefined
  /** The device of another backend that is this very hardware. */
  sameHardwareAs?: { backend: string; id: string; name: string } | undefined
}

/**
 * The ceilings that were measured on these very devices, by name and driver, one of each kind. Where a kind has none
 * of the device's driver, the newest of another driver stands in and says so in `stale`. A device that is the hardware of
 * another one has that one's.
 */
export function ceilingsOn(ceilings: readonly Ceiling[], devices: readonly DeviceIdentity[]): KnownCeiling[] {
  return devices.flatMap((device) => {
    const measuredOn = device.sameHardwareAs ?? device
    const own = ceilings.filter((c) => c.backend === measuredOn.backend && c.device === measuredOn.id && c.deviceName === measuredOn.name)
    const known = [...new Set(own.map((c) => c.kind))].flatMap((kind) => forDriver(own.filter((c) => c.kind === kind), device.driver) ?? [])
    return known.map((c) => ({ ...c, backend: device.backend, device: device.id, deviceName: device.name }))
  })
}
