import type { Device } from '@core/backend'

/**
 * What disturbs a device that cannot tell itself, and how much of its memory is free, from another backend's view of the same card: a page knows nothing of
 * the processes beside it, the vendor's own library does. Two devices are one card where they have the same name and
 * nothing else has it (but for those that say themselves which card they are); of two equal cards nobody can say which one the page was given.
 */
export function withTwins(devices: readonly Device[], known: readonly Device[] = devices): Device[] {
  return devices.map((device) => {
    if (device.disturbances !== undefined || !device.available.ok || device.software) return device
    const twins = known.filter((other) => other.backend !== device.backend && other.host === device.host && other.name === device.name && other.available.ok && !other.sameHardwareAs)
    const [twin] = twins
    if (!twin || twins.length > 1) return device
    const { disturbances, memoryBytes } = twin
    return { ...device, memoryBytes: Math.min(device.memoryBytes, memoryBytes), ...(disturbances ? { disturbances } : {}) }
  })
}
