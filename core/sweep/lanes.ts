import type { Device } from '../backend'

/** An implementation of a device with its thread count, where the device has a choice. */
export interface Lane {
  device: string
  impl: string
  threads?: number
}

/**
 * Whether naming the devices, implementations and thread counts of these lanes on one command line means just these
 * lanes. A command takes every named implementation that a named device has, with every named thread count that it has
 * a choice of. A device that is not known is taken to have them all.
 */
export function sameLanes(lanes: readonly Lane[], known: readonly Device[]): boolean {
  const impls = [...new Set(lanes.map(({ impl }) => impl))]
  const threads = [...new Set(lanes.flatMap((lane) => lane.threads ?? []))]
  let meant = 0
  for (const id of new Set(lanes.map(({ device }) => device))) {
    const own = lanes.filter(({ device }) => device === id)
    const device = known.find((one) => one.id === id && one.available.ok)
    const having = device ? impls.filter((impl) => device.impls.some((one) => one.id === impl)) : impls
    const threaded = own.some((lane) => lane.threads !== undefined)
    // A count that this device does not have is refused by the command.
    if (threaded && device && threads.some((count) => !device.threads.includes(count))) return false
    meant += having.length * (threaded ? threads.length : 1)
  }
  return meant === lanes.length
}
