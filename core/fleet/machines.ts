import type { Device } from '../backend'
import type { BenchmarkCase } from '../case'
import type { Environment } from '../session/types'
import { deviceOn, placeOf } from './place'

/** What a machine is called that is the session's own. */
export const OWN_MACHINE = 'this machine'

/** The machine of a case, as an axis of comparison. */
export const machineOf = ({ device }: Pick<BenchmarkCase, 'device'>): string => placeOf(device).host ?? OWN_MACHINE

/** A device as its own machine calls it. */
function atHome({ host: _host, ...device }: Device): Device {
  const { sameHardwareAs } = device
  return { ...device, id: placeOf(device.id).device, ...(sameHardwareAs ? { sameHardwareAs: { ...sameHardwareAs, id: placeOf(sameHardwareAs.id).device } } : {}) }
}

/** The environment as the machine of this name would have written it: its facts and devices alone. */
export function environmentOn(environment: Environment, machine: string): Environment {
  const host = machine === OWN_MACHINE ? undefined : machine
  const { machines = [], noiseFloors, ...own } = environment
  const facts = machines.find(({ name }) => name === host)?.facts
  return {
    ...(host === undefined ? own : { ...own, ...facts }),
    ...(noiseFloors ? { noiseFloors: noiseFloors.filter(({ device }) => placeOf(device).host === host).map((floor) => ({ ...floor, device: placeOf(floor.device).device })) } : {}),
    devices: environment.devices.filter((device) => placeOf(device.id).host === host).map(atHome),
  }
}

/**
 * A session that was measured on one other machine, as if it had been made there: its cases are then those of any other
 * session on such a device. Other sessions are given back as they are.
 */
export function onOneMachine<R extends { case: BenchmarkCase }, S extends { environment: Environment; rows: Iterable<R> }>(session: S): S {
  const machines = new Set(session.environment.devices.map(({ id }) => placeOf(id).host))
  const [machine] = machines
  if (machines.size !== 1 || machine === undefined) return session
  const { rows } = session
  return { ...session, environment: environmentOn(session.environment, machine), rows: { [Symbol.iterator]: () => localRows(rows) } }
}

function* localRows<R extends { case: BenchmarkCase }>(rows: Iterable<R>): Generator<R> {
  for (const row of rows) yield { ...row, case: { ...row.case, device: placeOf(row.case.device).device } }
}

/** Names for machines that tell nothing: `host1`, `host2`, … in the order met. */
export function plainNames(environment: Environment): Map<string, string> {
  const names = new Set([...(environment.machines ?? []).map(({ name }) => name), ...environment.devices.flatMap(({ id }) => placeOf(id).host ?? [])])
  return new Map([...names].map((name, i) => [name, `host${i + 1}`]))
}

/** A value with machines renamed wherever a text is the id of one of their devices or begins with one. Samples are left as they are. */
export function renameMachines<T>(value: T, names: ReadonlyMap<string, string>): T {
  if (names.size === 0) return value
  const rename = (part: unknown, key: string): unknown => {
    if (typeof part === 'string') {
      const { host, device } = placeOf(part)
      if (host !== undefined && names.has(host)) return deviceOn(names.get(host)!, device)
      return (key === 'host' || key === 'name' || key === 'value') && names.has(part) ? names.get(part) : part
    }
    if (typeof part !== 'object' || part === null) return part
    if (Array.isArray(part)) return typeof part[0] === 'number' ? part : part.map((item) => rename(item, key))
    return Object.fromEntries(Object.entries(part).map(([name, item]) => [name, rename(item, name)]))
  }
  return rename(value, '') as T
}
