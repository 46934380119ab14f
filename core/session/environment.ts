import type { Device } from '../backend'
import { findBackend, isLibrary } from '../backends'
import { formatBytes, formatPercent, localNumber } from '../units'
import type { Environment, NoiseFloor } from './types'

/** Facts that belong together, each a name and a value with its unit; lists have a line per entry. */
export interface FactGroup {
  title: string
  facts: (readonly [name: string, value: string])[]
}

/** `L1d 32 KiB x 8, L3 32 MiB`. */
const cachesText = (caches: NonNullable<Environment['caches']>): string =>
  caches.map(({ name, bytes, instances }) => `${name} ${formatBytes(bytes).replace(/\.0+ /, ' ')}${instances > 1 ? ` x ${instances}` : ''}`).join(', ')

const fact = (name: string, value: string | undefined): FactGroup['facts'] => (value === undefined || value === '' ? [] : [[name, value]])

/** What a reader should know before trusting the figures: warnings of the devices, and what disturbed them at the start. */
export function environmentWarnings(environment: Environment): string[] {
  const devices = environment.devices.filter((device) => device.available.ok)
  const own = withoutRepeats(devices)
  const said = own.flatMap((device) => [...(device.disturbances ?? []), ...device.warnings].map((text) => `${device.name} (${device.backend}): ${text}`))
  return [...(environment.powerSource === 'battery' ? ['The machine ran on battery.'] : []), ...new Set(said)]
}

function deviceGroup(device: Device, { noiseFloors = [] }: Environment): FactGroup {
  const floor = noiseFloorOn(noiseFloors, device)
  // Some backends give these among their facts too.
  const told = (pattern: RegExp) => device.facts.some((f) => pattern.test(f.name))
  return {
    // Several Pythons compute on one piece of hardware.
    title: `${device.name}${device.software ? ' (software)' : ''}, ${device.interpreter ? device.id : device.backend}`,
    facts: [
      ...(told(/^driver$/i) ? [] : fact('Driver', device.driver)),
      ...fact('Program', device.interpreter?.path),
      ...device.facts.map(({ name, value }) => [name, value] as const),
      ...fact('Caches', told(/\bcaches?\b/i) ? undefined : device.caches?.map((cache) => `${cache.name} ${formatBytes(cache.bytes).replace(/\.0+ /, ' ')}`).join(', ')),
      ['Noise floor', floor ? noiseFloorText(floor) : 'not measured'],
    ],
  }
}

/** Everything recorded of a session's machine (another tool's file may say little), in groups to show one after the other. */
export function environmentGroups(e: Environment): FactGroup[] {
  const power = [e.governor && `governor ${e.governor}`, e.boost === undefined ? undefined : `boost ${e.boost ? 'on' : 'off'}`, e.powerSource && `on ${e.powerSource}`].filter(Boolean)
  return [
    {
      title: 'Machine',
      facts: [
        ...fact('Computer', e.host),
        ...fact('System', [e.os, e.kernel].filter(Boolean).join(', ')),
        ...fact('Processor', [e.cpu, e.logicalCpus > 0 && `${e.logicalCpus} logical CPUs`].filter(Boolean).join(', ')),
        ...fact('Processor caches', e.caches && cachesText(e.caches)),
        ...fact('Memory', e.memoryBytes > 0 ? formatBytes(e.memoryBytes) : undefined),
        ...fact('Clocks and power', power.join(', ')),
      ],
    },
    {
      title: 'Program',
      facts: [
        ...fact('Opscope', e.appVersion && (e.code === undefined ? e.appVersion : `${e.appVersion}, build ${e.code}`)),
        ...fact('Runtime', [e.node && `Node ${e.node}`, e.electron && `Electron ${e.electron}`, e.chromium && `Chromium ${e.chromium}`].filter(Boolean).join(', ')),
        ...fact('Chromium switches', e.switches && (e.switches.filter(isSwitch).join('\n') || 'none')),
        ...fact('Environment variables', e.switches && (e.switches.filter((one) => !isSwitch(one)).join('\n') || 'none')),
      ],
    },
    ...e.devices.filter((device) => device.available.ok).map((device) => deviceGroup(device, e)),
  ].filter(({ facts }) => facts.length > 0)
}

/** Recorded beside each other: switches of Chromium (`--use-angle=vulkan`) and variables (`OMP_NUM_THREADS=4`). */
const isSwitch = (text: string) => text.startsWith('--')

interface Place {
  name: string
  environment: Environment
}

const gib = (bytes: number) => localNumber(`${(bytes / 2 ** 30).toFixed(1)} GiB`)

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
  return others.flatMap((other) => [...new Set([...general(baseline, other), ...switches(baseline, other, used), ...devices(baseline, other, used)])])
}

/** Device facts that are readings of a moment, not properties: they differ between any two runs. */
const READINGS: ReadonlySet<string> = new Set([
  'Temperature', 'Clock', 'Timestamp period', 'Cost of a compute pass', 'Event overhead subtracted (hot)', 'Launch overhead subtracted (graph)',
  // As earlier versions named these two.
  'Taken off hot samples for their events', 'Taken off graph samples for their launch',
])

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

/**
 * Switches are recorded whole, so that one which only one side has is a difference; sessions of before their record have none to compare. Those of
 * Chromium (`--`) affect WebGPU alone.
 */
function* switches(a: Place, b: Place, used: ReadonlySet<string>): Generator<string> {
  if (!a.environment.switches || !b.environment.switches) return
  const inChromium = [...used].some((device) => findBackend(device.split('/', 1)[0]!)?.host === 'webgpu')
  const relevant = (texts: readonly string[]) => bySwitch(inChromium ? texts : texts.filter((text) => !text.startsWith('--')))
  const [left, right] = [relevant(a.environment.switches), relevant(b.environment.switches)]
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

/** Hardware by device id, asked for with every row of a table; there are few devices. */
const hardware = new Map<string, string>()

/** The hardware behind a device's id, whoever computes on it: `python:cuda:0@torch2` computes on `cuda:0`. */
export function hardwareOf(device: string): string {
  let found = hardware.get(device)
  if (found === undefined) {
    const [first = '', ...rest] = device.replace(/@.*$/, '').split(':')
    hardware.set(device, (found = isLibrary(first) ? rest.join(':') : [first, ...rest].join(':')))
  }
  return found
}

/** What kind of processor a device is. Everything that is not the processor of the machine is a GPU. */
export const processorOf = (device: string): 'cpu' | 'gpu' => (hardwareOf(device) === 'cpu' ? 'cpu' : 'gpu')

/** Devices without those that are the hardware of another one among them: what is wrong with hardware is said once. */
export const withoutRepeats = <D extends Pick<Device, 'id' | 'sameHardwareAs'>>(devices: readonly D[]): D[] => {
  const said = new Set<string>()
  return [...devices].sort((a, b) => Number(a.sameHardwareAs !== undefined) - Number(b.sameHardwareAs !== undefined)).filter((device) => {
    const hardware = device.sameHardwareAs?.id ?? device.id
    const first = !said.has(hardware)
    said.add(hardware)
    return first
  })
}

export type KnownNoiseFloor = NoiseFloor & Stale

/** The last self-check of a device; one under another driver says so in `stale`. */
export function noiseFloorOn(floors: readonly NoiseFloor[], device: { backend: string; id: string; name: string; driver?: string | undefined }): KnownNoiseFloor | undefined {
  return forDriver(floors.filter((f) => f.backend === device.backend && f.device === device.id && f.deviceName === device.name), device.driver)
}

/** `0.43 % in 95 % of 40 pairs, typically 0.11 %, 0 false verdicts`. */
export const noiseFloorText = ({ ratioP50, ratioP95, pairs, falseVerdicts }: NoiseFloor): string =>
  `${formatPercent(ratioP95)} in 95 % of ${pairs} pairs, typically ${formatPercent(ratioP50)}, ${falseVerdicts} false ${falseVerdicts === 1 ? 'verdict' : 'verdicts'}`

/** What was measured on a device under a driver. */
interface Dated {
  driver?: string | undefined
  measuredAt: string
}

/** What speaks against taking a figure for today's: `measured under driver 550.54, now 570.86`. */
export interface Stale {
  stale?: string
}

/**
 * The record of these that holds under `driver`: the one measured under it, else the newest of another one, which says
 * so in `stale`. Where either side does not know its driver there is no telling that it changed.
 */
export function forDriver<T extends Dated>(records: readonly T[], driver: string | undefined): (T & Stale) | undefined {
  const exact = records.find((record) => record.driver === driver)
  if (exact) return exact
  const newest = records.reduce<T | undefined>((last, record) => (last && last.measuredAt >= record.measuredAt ? last : record), undefined)
  if (!newest || driver === undefined || newest.driver === undefined) return newest
  return { ...newest, stale: `measured under driver ${newest.driver}, now ${driver}` }
}

const UNITS: Readonly<Record<string, number>> = { KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30 }

/** Bytes of a cache fact such as `60 MiB`, `300 MiB, shared by 16` or `2 MiB, per core`; undefined where it is not a size. */
export function factBytes(value: string, cores: number): number | undefined {
  const [, number, unit] = /^([\d.]+) (KiB|MiB|GiB)\b/.exec(value) ?? []
  return unit === undefined ? undefined : Number(number) * UNITS[unit]! * (value.endsWith('per core') ? cores : 1)
}

/** Sizes of a device's data caches from its facts: sessions made before devices listed their caches have no other record. */
function fromFacts({ facts }: Device): number[] {
  const cores = Number(facts.find(({ name }) => name === 'Physical cores')?.value ?? 1)
  return facts.flatMap(({ name, value }) => (/^L\d( data)? cache$/.test(name) ? (factBytes(value, cores) ?? []) : []))
}

/**
 * Sizes in bytes of the caches of one device, smallest first, all instances together: as the device lists them, else its
 * facts, else another device of the same name, else (for the processor) the machine's caches. Empty where nothing is recorded.
 */
export function cacheSizes({ devices, caches = [] }: Pick<Environment, 'devices' | 'caches'>, backend: string, id: string): number[] {
  const own = devices.find((device) => device.backend === backend && device.id === id)
  if (!own) return []
  const listed = [own, ...devices.filter((device) => device.name === own.name)].map((device) => device.caches?.map(({ bytes }) => bytes) ?? fromFacts(device))
  const machine = processorOf(id) === 'cpu' ? caches.filter(({ name }) => name !== 'L1i').map(({ bytes, instances }) => bytes * instances) : []
  return [...(listed.find((sizes) => sizes.length > 0) ?? machine)].sort((a, b) => a - b)
}
