import type { Device } from '../backend'
import type { MeasureSettings } from '../measure/settings'
import type { Result } from '../result'
import { SCHEMA_VERSION, type Environment, type MachineFacts, type NoiseFloor, type SessionFile, type SessionState } from '../session/types'
import { deviceOn, HOST_NAME, remoteDevice } from './place'

/** What one machine measured of a sweep, its devices called as it calls them. */
export interface MachinePart {
  host: string
  environment: Environment
  results: readonly Result[]
  settings?: MeasureSettings
  createdAt: string
}

/** The name of a machine as it stands in device ids: `node7` of `node7.cluster.example`. */
export function hostLabel(host: string): string {
  const label = (host.split('.')[0] ?? '').replaceAll(/[^A-Za-z0-9_-]/g, '-').slice(0, 40)
  return HOST_NAME.test(label) ? label : 'host'
}

/** The facts of an environment, without its devices. */
export function factsOf({ devices: _devices, noiseFloors: _floors, machines: _machines, ...facts }: Environment): MachineFacts {
  return facts
}

/**
 * One session of what several machines measured: every device and result carries its machine (`node7/cuda:0`), and the facts
 * of each machine are kept. A result that comes twice (the same id) counts once. The environment's own facts are those of
 * the first machine.
 */
export function onMachines(session: { id: string; name: string; state: SessionState; left: number; notes: string }, parts: readonly MachinePart[]): SessionFile {
  const results = new Map<string, Result>()
  const devices = new Map<string, Device>()
  const machines = new Map<string, MachineFacts>()
  const floors = new Map<string, NoiseFloor>()
  for (const part of parts) {
    const host = hostLabel(part.host)
    if (!machines.has(host)) machines.set(host, factsOf(part.environment))
    for (const device of part.environment.devices) devices.set(`${device.backend} ${deviceOn(host, device.id)}`, remoteDevice(host, device))
    for (const floor of part.environment.noiseFloors ?? []) floors.set(`${host} ${JSON.stringify(floor)}`, { ...floor, device: deviceOn(host, floor.device) })
    for (const result of part.results) if (!results.has(result.id)) results.set(result.id, { ...result, case: { ...result.case, device: deviceOn(host, result.case.device) } })
  }
  const first = parts[0]!
  return {
    schemaVersion: SCHEMA_VERSION,
    session: {
      id: session.id, name: session.name, createdAt: parts.reduce((least, { createdAt }) => (createdAt < least ? createdAt : least), first.createdAt), notes: session.notes, tags: [], state: session.state,
      planned: results.size + session.left, about: { kind: 'merged' }, ...(first.settings ? { settings: first.settings } : {}),
    },
    environment: { ...factsOf(first.environment), machines: [...machines].map(([name, facts]) => ({ name, facts })), ...(floors.size > 0 ? { noiseFloors: [...floors.values()] } : {}), devices: [...devices.values()] },
    results: [...results.values()],
  }
}
