import type { Device } from '../../backend'
import type { Result } from '../../result'
import type { Ceiling } from '../../session/types'
import { kindOfCase } from './cases'
import { copyCurve } from './curve'
import { cacheKind, ceilingKind } from './kinds'

/** What a result says about a device's limits; undefined unless it is right, measured, and of a ceiling case of this device. */
export function ceilingOf(device: Device, result: Result): Ceiling | undefined {
  const { case: c, summary } = result
  if (c.backend !== device.backend || c.device !== device.id || result.status !== 'ok' || !summary || !(summary.medianNs > 0)) return undefined
  const kind = kindOfCase(device, c)
  if (kind === undefined) return undefined
  const seconds = summary.medianNs / 1e9
  const common = { ...deviceOf(device), kind, measuredAt: result.startedAt, result }
  switch (ceilingKind(kind).is) {
    case 'launch':
      return { ...common, value: seconds, unit: 's' }
    case 'flops':
      return { ...common, value: result.flops / seconds, unit: 'FLOP/s' }
    default:
      return { ...common, value: result.bytes / seconds, unit: 'bytes/s' }
  }
}

const deviceOf = (device: Device): Pick<Ceiling, 'backend' | 'device' | 'deviceName' | 'driver'> => ({
  backend: device.backend,
  device: device.id,
  deviceName: device.name,
  ...(device.driver === undefined ? {} : { driver: device.driver }),
})

/**
 * Bandwidth of each of the device's caches: the best hot copy whose working set is at most half of it, and larger than
 * half of the cache before, so that no cache gets the figure of a smaller one. None where the device tells no caches.
 */
export function cacheCeilings(device: Device, ceilings: readonly Ceiling[]): Ceiling[] {
  const own = ceilings.filter((c) => c.backend === device.backend && c.device === device.id && c.deviceName === device.name && c.driver === device.driver)
  const curve = copyCurve(own)
  return (device.caches ?? []).flatMap((cache, i, all) => {
    const above = (all[i - 1]?.bytes ?? 0) / 2
    const within = curve.filter((point) => point.bytes > above && point.bytes <= cache.bytes / 2)
    const best = within.reduce<(typeof within)[number] | undefined>((top, point) => (top && top.bytesPerSecond >= point.bytesPerSecond ? top : point), undefined)
    if (!best) return []
    return [{ ...deviceOf(device), kind: cacheKind(cache.name), value: best.bytesPerSecond, unit: 'bytes/s' as const, measuredAt: best.ceiling.measuredAt, result: best.ceiling.result }]
  })
}

/**
 * All that one more result tells: its own ceiling and, where that belongs to the copy curve, those of the caches.
 * `known` are the ceilings kept so far; those of other devices and drivers are left alone.
 */
export function ceilingsOf(device: Device, result: Result, known: readonly Ceiling[]): Ceiling[] {
  const own = ceilingOf(device, result)
  if (!own) return []
  if (ceilingKind(own.kind).is !== 'copy-size') return [own]
  return [own, ...cacheCeilings(device, [...known.filter((c) => !(c.kind === own.kind && c.backend === own.backend && c.device === own.device && c.deviceName === own.deviceName && c.driver === own.driver)), own])]
}
