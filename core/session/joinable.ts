import type { Device } from '../backend'
import type { BenchmarkCase } from '../case'
import { findBackend } from '../backends'
import type { Environment } from './types'

/** What must be equal for results of two moments to stand in one session. */
export type Bench = Pick<Environment, 'host' | 'cpu' | 'logicalCpus' | 'appVersion' | 'code' | 'chromium'> & { devices: readonly Device[] }

const driverOf = (device: Device) => device.driver ?? device.facts.find(({ name }) => name === 'Driver')?.value

/** `PyTorch 2.11.0` of each library that computes there. */
const packagesOf = ({ interpreter }: Device) => new Map((interpreter?.packages ?? []).flatMap(({ name, version }) => (version === undefined ? [] : [[name, version] as const])))

/** A fact of both sides that differs; one that a side does not record is no difference. */
function differs(what: string, then: string | number | undefined, now: string | number | undefined): string | undefined {
  if (then === undefined || now === undefined || then === '' || now === '' || then === now) return undefined
  return `${what} was ${then} and is ${now} here`
}

function deviceDiffers(id: string, then: Device, now: Device | undefined): string | undefined {
  if (!now) return `its device ${then.name} (${id}) is not on this machine`
  if (!now.available.ok) return `its device ${then.name} (${id}) is not available here: ${now.available.reason.replace(/\.$/, '')}`
  if (then.name !== now.name) return `its device ${id} is ${then.name}, and here it is ${now.name}`
  const driver = differs(`the driver of ${then.name}`, driverOf(then), driverOf(now))
  if (driver !== undefined) return driver
  const packages = packagesOf(now)
  for (const [name, version] of packagesOf(then)) {
    if (!packages.has(name)) return `${name} ${version}, which it used on ${then.name}, is not here`
    const changed = differs(name, version, packages.get(name))
    if (changed !== undefined) return changed
  }
  return undefined
}

function reasonOf(session: Bench, here: Bench, cases: readonly Pick<BenchmarkCase, 'backend' | 'device'>[]): string | undefined {
  const find = (bench: Bench, backend: string, id: string) => bench.devices.find((device) => device.backend === backend && device.id === id)
  // What is missing altogether is the clearest reason, so devices come first.
  for (const key of new Set(cases.map(({ backend, device }) => `${backend} ${device}`))) {
    const at = key.indexOf(' ')
    const [backend, id] = [key.slice(0, at), key.slice(at + 1)]
    const then = find(session, backend, id)
    const reason = then ? deviceDiffers(id, then, find(here, backend, id)) : `it does not record which hardware ${id} is`
    if (reason !== undefined) return reason
  }
  const chromium = cases.some(({ backend }) => findBackend(backend)?.host === 'webgpu') ? differs('Chromium', session.chromium, here.chromium) : undefined
  return (
    differs('the computer', session.host, here.host) ??
    differs('the processor', session.cpu, here.cpu) ??
    differs('the number of logical processors', session.logicalCpus, here.logicalCpus) ??
    differs('Opscope', session.appVersion, here.appVersion) ??
    (differs('code', session.code, here.code) && 'it was measured by another build of Opscope') ??
    chromium
  )
}

/** Whether two sessions measured this case on the same hardware: computer, processor and device; a fact that one of them does not record is no difference. */
export function onSameHardware(a: Bench, b: Bench, { backend, device: id }: Pick<BenchmarkCase, 'backend' | 'device'>): boolean {
  const nameIn = ({ devices }: Bench) => devices.find((device) => device.backend === backend && device.id === id)?.name
  return nameIn(a) !== undefined && nameIn(a) === nameIn(b) && differs('', a.host, b.host) === undefined && differs('', a.cpu, b.cpu) === undefined
}

/**
 * Why new measurements of these cases cannot join a session, as one sentence; undefined where they can. Results of one
 * session are compared with each other, so they come from the same hardware, driver, libraries and code.
 * @param here this machine; of its devices those of the cases' backends are enough
 */
export function whyNotJoinable(session: Bench, here: Bench, cases: readonly Pick<BenchmarkCase, 'backend' | 'device'>[]): string | undefined {
  const reason = reasonOf(session, here, cases)
  return reason === undefined ? undefined : `New measurements cannot join this session: ${reason}. Measure a new session instead.`
}
