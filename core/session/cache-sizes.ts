import { processorOf } from './environment'
import type { Device } from '../backend'
import type { Environment } from './types'

const UNITS: Readonly<Record<string, number>> = { KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30 }

/** Bytes of a cache fact such as `60 MiB`, `300 MiB, shared by 16` or `2 MiB, per core`; undefined where it is not a size. */
function factBytes(value: string, cores: number): number | undefined {
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
