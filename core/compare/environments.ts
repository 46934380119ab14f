import type { Device } from '../backend'
import { cachesText } from '../session/environment-facts'
import type { Environment } from '../session/types'

interface Place {
  name: string
  environment: Environment
}

const gib = (bytes: number) => `${(bytes / 2 ** 30).toFixed(1)} GiB`

const FACTS: readonly { title: string; of: (e: Environment) => string | undefined }[] = [
  { title: 'Machine', of: (e) => e.host },
  { title: 'Processor', of: (e) => e.cpu },
  { title: 'Logical processors', of: (e) => String(e.logicalCpus) },
  { title: 'Caches', of: (e) => e.caches && cachesText(e.caches) },
  { title: 'Memory', of: (e) => gib(e.memoryBytes) },
  { title: 'Governor', of: (e) => e.governor },
  { title: 'Boost', of: (e) => (e.boost === undefined ? undefined : e.boost ? 'on' : 'off') },
  { title: 'Power source', of: (e) => e.powerSource },
  { title: 'Operating system', of: (e) => e.os },
  { title: 'Kernel', of: (e) => e.kernel },
  { title: 'Opscope', of: (e) => e.appVersion },
  { title: 'Build of Opscope', of: (e) => e.code },
  { title: 'Node', of: (e) => e.node },
  { title: 'Electron', of: (e) => e.electron },
  { title: 'Chromium', of: (e) => e.chromium },
]

/**
 * How the environments of sessions differ from the first one's, one sentence each. Of devices only those in `used`
 * (`backend/device`) count. A fact only one side knows is no difference, nor is a reading such as the temperature.
 */
export function environmentDifferences(places: readonly Place[], used: ReadonlySet<string>): string[] {
  const [baseline, ...others] = places
  if (!baseline) return []
  return others.flatMap((other) => [...new Set([...general(baseline, other), ...switches(baseline, other), ...devices(baseline, other, used)])])
}

/** Device facts that are readings of a moment, not properties: they differ between any two runs. */
const READINGS: ReadonlySet<string> = new Set(['Temperature', 'Clock', 'Timestamp period', 'Cost of a compute pass', 'Taken off hot samples for their events', 'Taken off graph samples for their launch'])

const sentence = (what: string, a: Place, left: string, b: Place, right: string) =>
  a.name === b.name ? `${what}: ${left} in the baseline, ${right} in the other session.` : `${what}: ${left} in “${a.name}”, ${right} in “${b.name}”.`

function* general(a: Place, b: Place): Generator<string> {
  for (const { title, of } of FACTS) {
    const left = of(a.environment)
    const right = of(b.environment)
    if (left !== undefined && right !== undefined && left !== right) yield sentence(title, a, left, b, right)
  }
}

/** `OMP_NUM_THREADS=4` and `--use-angle=vulkan` by what stands before the first `=`. */
const bySwitch = (texts: readonly string[]) => new Map(texts.map((text) => [text.split('=', 1)[0]!, text.includes('=') ? text.slice(text.indexOf('=') + 1) : 'set'] as const))

/** Switches are recorded whole, so that one which only one side has is a difference; sessions of before their record have none to compare. */
function* switches(a: Place, b: Place): Generator<string> {
  if (!a.environment.switches || !b.environment.switches) return
  const [left, right] = [bySwitch(a.environment.switches), bySwitch(b.environment.switches)]
  for (const name of [...new Set([...left.keys(), ...right.keys()])].sort()) {
    const [mine, theirs] = [left.get(name) ?? 'not set', right.get(name) ?? 'not set']
    if (mine !== theirs) yield sentence(name, a, mine, b, theirs)
  }
}

const key = (device: Device) => `${device.backend}/${device.id}`

function* devices(a: Place, b: Place, used: ReadonlySet<string>): Generator<string> {
  const theirs = new Map(b.environment.devices.map((device) => [key(device), device]))
  for (const device of a.environment.devices) {
    const other = theirs.get(key(device))
    if (!other || !used.has(key(device))) continue
    if (device.name !== other.name) {
      yield sentence(`Device ${device.id}`, a, device.name, b, other.name)
      continue
    }
    yield* facts(a, device, b, other)
    // Who disturbed a device is a fact of each session by itself, worth saying where it is not the same on both sides.
    for (const text of device.disturbances ?? []) if (!other.disturbances?.includes(text)) yield disturbed(device, a, b, a, text)
    for (const text of other.disturbances ?? []) if (!device.disturbances?.includes(text)) yield disturbed(device, a, b, b, text)
  }
}

function* facts(a: Place, device: Device, b: Place, other: Device): Generator<string> {
  const values = new Map(other.facts.map((fact) => [fact.name, fact.value]))
  const told = device.facts.filter((fact) => values.has(fact.name))
  // Some backends give the driver among the facts too; once is enough.
  const driverTold = told.some((fact) => fact.name === 'Driver')
  if (!driverTold && device.driver !== undefined && other.driver !== undefined && device.driver !== other.driver) yield sentence(`Driver of ${device.name}`, a, device.driver, b, other.driver)
  for (const { name, value } of told) {
    const right = values.get(name)!
    if (right !== value && !READINGS.has(name)) yield sentence(`${name} of ${device.name}`, a, value, b, right)
  }
}

const disturbed = (device: Device, a: Place, b: Place, where: Place, text: string) =>
  `${device.name} was disturbed ${a.name === b.name ? (where === a ? 'in the baseline' : 'in the other session') : `in “${where.name}”`}: ${text.replace(/\.$/, '')}.`
