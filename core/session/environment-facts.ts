import { withoutRepeats } from '../analysis/hardware'
import type { Device } from '../backend'
import { formatBytes } from '../units'
import { noiseFloorOn, noiseFloorText } from './noise-floors'
import type { Environment } from './types'

/** Facts that belong together, each a name and a value with its unit; lists have a line per entry. */
export interface FactGroup {
  title: string
  facts: (readonly [name: string, value: string])[]
}

/** `L1d 32 KiB x 8, L3 32 MiB`. */
export const cachesText = (caches: NonNullable<Environment['caches']>): string =>
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
      ['Noise floor', floor ? noiseFloorText(floor) : 'not checked'],
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
        ...fact('Switches', e.switches && (e.switches.join('\n') || 'none')),
      ],
    },
    ...e.devices.filter((device) => device.available.ok).map((device) => deviceGroup(device, e)),
  ].filter(({ facts }) => facts.length > 0)
}
