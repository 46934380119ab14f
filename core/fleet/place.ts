import type { Device } from '../backend'

/** A device as its own machine names it (`cuda:0`), and the machine where that is not this one. */
export interface Place {
  device: string
  host?: string
}

/** Names of remote machines: they stand before a slash in device ids and name lock files, folders and streams. */
export const HOST_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,39}$/

/** `gpubox/cuda:0` is `cuda:0` of gpubox, `cuda:0` is of this machine. */
export function placeOf(deviceId: string): Place {
  const slash = deviceId.indexOf('/')
  return slash < 0 ? { device: deviceId } : { host: deviceId.slice(0, slash), device: deviceId.slice(slash + 1) }
}

/** The id of a device of another machine. */
export const deviceOn = (host: string, device: string): string => `${host}/${device}`

/** A device as it was reported by the machine of this name. */
export const remoteDevice = (host: string, device: Device): Device => ({
  ...device,
  id: deviceOn(host, device.id),
  host,
  ...(device.sameHardwareAs ? { sameHardwareAs: { ...device.sameHardwareAs, id: deviceOn(host, device.sameHardwareAs.id) } } : {}),
})
