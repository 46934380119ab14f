import type { Result } from '../../result'
import type { Ceiling, Environment } from '../../session/types'
import { ceilingKind } from './kinds'
import { ceilingsOn, type DeviceIdentity, type KnownCeiling } from './read'

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
