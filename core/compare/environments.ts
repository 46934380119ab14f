import type { Device } from '../backend'
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
  { title: 'Memory', of: (e) => gib(e.memoryBytes) },
  { title: 'Operating system', of: (e) => e.os },
  { title: 'Kernel', of: (e) => e.kernel },
  { title: 'Opscope', of: (e) => e.appVersion },
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
  return others.flatMap((other) => [...new Set([...general(baseline, other), ...devices(baseline, other, used)])])
}

/** Device facts that are readings of a moment, not properties: they differ between any two runs. */
const READINGS: ReadonlySet<string> = new Set(['Temperature', 'Clock', 'Timestamp period', 'Cost of a compute pass'])

const sentence = (what: string, a: Place, left: string, b: Place, right: string) =>
  a.name === b.name ? `${what}: ${left} in the baseline, ${right} in the other session.` : `${what}: ${left} in “${a.name}”, ${right} in “${b.name}”.`

function* general(a: Place, b: Place): Generator<string> {
  for (const { title, of } of FACTS) {
    const left = of(a.environment)
    const right = of(b.environment)
    if (left !== undefined && right !== undefined && left !== right) yield sentence(title, a, left, b, right)
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
    const values = new Map(other.facts.map((fact) => [fact.name, fact.value]))
    for (const { name, value } of device.facts) {
      const right = values.get(name)
      if (right !== undefined && right !== value && !READINGS.has(name)) yield sentence(`${name} of ${device.name}`, a, value, b, right)
    }
  }
}
