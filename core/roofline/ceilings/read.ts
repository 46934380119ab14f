import type { Device } from '../../backend'
import type { Result } from '../../result'
import { forDriver, type Stale } from '../../session/environment'
import type { Ceiling, Environment } from '../../session/types'
import { kindOfCase } from './cases'
import { cacheKind, ceilingKind, launchKind, splitKind, choiceKind } from './kinds'
import { levelsOf } from './processor'
import { quickCalls } from './quick-calls'

/** What a result says about a device's limits; undefined unless it is right, measured, and of a ceiling case of this device. */
export function ceilingOf(device: Device, result: Result): Ceiling | undefined {
  const { case: c, summary } = result
  if (c.backend !== device.backend || c.device !== device.id || result.status !== 'ok' || !summary || !(summary.medianNs > 0)) return undefined
  const kind = kindOfCase(device, c)
  if (kind === undefined) return undefined
  // Programs share a processor with the measurement: what it can do is what its quick calls show.
  const quick = device.threads.length > 0 ? quickCalls(result) : undefined
  const common = { ...deviceOf(device), kind, measuredAt: result.startedAt, result }
  const is = ceilingKind(kind).is
  const unit = is === 'launch' ? 's' : is === 'flops' ? 'FLOP/s' : 'bytes/s'
  const valueOf = (ns: number) => (unit === 's' ? ns / 1e9 : ((unit === 'FLOP/s' ? result.flops : result.bytes) / ns) * 1e9)
  if (!quick) return { ...common, value: valueOf(summary.medianNs), unit }
  const [a, b] = [valueOf(quick.lowNs), valueOf(quick.highNs)]
  return { ...common, value: valueOf(quick.ns), unit, low: Math.min(a, b), high: Math.max(a, b) }
}

const deviceOf = (device: Device): Pick<Ceiling, 'backend' | 'device' | 'deviceName' | 'driver'> => ({
  backend: device.backend,
  device: device.id,
  deviceName: device.name,
  ...(device.driver === undefined ? {} : { driver: device.driver }),
})

/**
 * Bandwidth of each of the device's caches: the best hot copy whose working set is at most half of it, and larger than
 * half of the cache before, so that no cache gets the figure of a smaller one. None where the device tells no caches, and for a
 * processor whose caches are measured by themselves.
 */
export function cacheCeilings(device: Device, ceilings: readonly Ceiling[]): Ceiling[] {
  if (levelsOf(device).length > 0) return []
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

/** A copy of one working set. */
export interface CurvePoint {
  /** Bytes in and out together. */
  bytes: number
  bytesPerSecond: number
  /** From the 95 % CI of the median time. */
  low?: number
  high?: number
  ceiling: Ceiling
}

/** Bandwidth of copies by working set, smallest first: the ceilings of kinds `copy:BYTES` and `copy` of one device. */
export function copyCurve(ceilings: readonly Ceiling[]): CurvePoint[] {
  return ceilings
    .flatMap((ceiling): CurvePoint[] => {
      const kind = ceilingKind(ceiling.kind)
      if ((kind.is !== 'copy' && kind.is !== 'copy-size') || splitKind(ceiling.kind).choice) return []
      // Bytes of a copy are what it reads and what it writes: its working set.
      const bytes = kind.is === 'copy-size' ? kind.bytes : ceiling.result.bytes
      return [{ bytes, bytesPerSecond: ceiling.value, ...intervalOf(ceiling), ceiling }]
    })
    .sort((a, b) => a.bytes - b.bytes)
}

/** The 95 % CI of a ceiling in its own unit: its own, else from that of its result's median. */
export function intervalOf({ unit, result, low, high }: Ceiling): { low?: number; high?: number } {
  if (low !== undefined && high !== undefined) return { low, high }
  const { ciLowNs, ciHighNs } = result.summary ?? {}
  if (ciLowNs === undefined || ciHighNs === undefined || !(ciLowNs > 0)) return {}
  if (unit === 's') return { low: ciLowNs / 1e9, high: ciHighNs / 1e9 }
  const work = unit === 'bytes/s' ? result.bytes : result.flops
  return { low: (work / ciHighNs) * 1e9, high: (work / ciLowNs) * 1e9 }
}

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

/** A launch that takes this share of a copy tells more about the launch than about the cache. */
export const NOTABLE_LAUNCH = 0.2

/**
 * Share of a ceiling's call that launching takes, by the launch measured on the same device in the same mode: small
 * copies are never faster than that, whatever the cache could do. At most 1; undefined where no launch was measured.
 */
export function launchShare(ceiling: Ceiling, ceilings: readonly Ceiling[]): number | undefined {
  const { choice } = splitKind(ceiling.kind)
  const launched = launchKind(ceiling.result.case.mode)
  const kind = choice ? choiceKind(launched, choice) : launched
  const launch = ceilings.find((c) => c.kind === kind && c.backend === ceiling.backend && c.device === ceiling.device && c.deviceName === ceiling.deviceName)
  const medianNs = ceiling.result.summary?.medianNs
  return launch && medianNs ? Math.min(1, (launch.value * 1e9) / medianNs) : undefined
}

/** The measurement behind a ceiling without its samples and their conditions: some hundred bytes. */
const inShort = ({ id, case: c, status, startedAt, wallMs, measuredMs, bytes, flops, summary, converged, grade, seed }: Result): Result => ({
  id, case: c, status, startedAt, wallMs, measuredMs, bytes, flops, samplesNs: [], seed,
  ...(summary ? { summary } : {}), ...(converged === undefined ? {} : { converged }), ...(grade ? { grade } : {}),
})

/**
 * Those of `ceilings` that hold for these devices, as the environment record of a session keeps them: under the device they were
 * measured on, and without the points of the copy curve, by which nothing is rated.
 */
export function recordedCeilings(ceilings: readonly Ceiling[], devices: readonly DeviceIdentity[]): Ceiling[] {
  const hardware = new Map(devices.map((device) => {
    const { backend, id, name } = device.sameHardwareAs ?? device
    return [`${backend} ${id} ${name}`, { backend, id, name, driver: device.driver }] as const
  }))
  return ceilingsOn(ceilings, [...hardware.values()]).flatMap(({ stale: _stale, ...ceiling }) => (ceilingKind(ceiling.kind).is === 'copy-size' ? [] : [{ ...ceiling, result: inShort(ceiling.result) }]))
}

/**
 * The ceilings by which a session is judged: its own record, and of kinds that it lacks those of `known` that were measured on the
 * same devices, by name and driver.
 */
export function ceilingsOfSession({ ceilings = [], devices }: Pick<Environment, 'ceilings'> & { devices: readonly DeviceIdentity[] }, known: readonly Ceiling[]): KnownCeiling[] {
  const own = ceilingsOn(ceilings, devices)
  const kept = new Set(own.map(({ backend, device, kind }) => `${backend} ${device} ${kind}`))
  return [...own, ...ceilingsOn(known, devices).filter(({ backend, device, kind }) => !kept.has(`${backend} ${device} ${kind}`))]
}
