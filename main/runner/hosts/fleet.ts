import type { Device } from '@core/backend'
import { placeOf, remoteDevice } from '@core/fleet/place'
import type { MachineFacts } from '@core/session/types'
import { missingDevice } from '../../measurement/missing'
import { Host } from './host'
import type { Limits, HostKind } from '../types'

/** What is asked of a host: cases of a backend on a device. */
export interface Use {
  backend: string
  device: string
}

/** Whether a host measures cases on a device. */
export const serves = ({ machine, backends }: HostKind, { backend, device }: Use): boolean => backends.includes(backend) && placeOf(device).host === machine

/** Every host the app has, and the devices they reported, kept until asked again. */
export class Fleet {
  readonly #hosts = new Map<HostKind, Host>()
  /** Hosts of the same kinds for tracks that measure beside others. */
  readonly #beside = new Map<HostKind, Map<string, Host>>()
  readonly #known = new Map<Host, Device[]>()
  /** Questions that are not answered yet: a host is asked one thing at a time. */
  readonly #asking = new Map<Host, Promise<Device[]>>()

  /** `told`: what is known of devices beside what hosts say. */
  constructor(
    private readonly kinds: () => readonly HostKind[],
    private readonly limits: Limits,
    private readonly told: (devices: Device[]) => Device[] = (devices) => devices,
  ) {}

  /** One for each kind there is now; those of machines that were removed are closed. */
  #hostsNow(): Host[] {
    const kinds = new Set(this.kinds())
    for (const [kind, host] of this.#hosts) {
      if (kinds.has(kind)) continue
      this.#hosts.delete(kind)
      this.#known.delete(host)
      void host.close()
      for (const other of this.#beside.get(kind)?.values() ?? []) void other.close()
      this.#beside.delete(kind)
    }
    return [...kinds].map((kind) => {
      const host = this.#hosts.get(kind) ?? new Host(kind, this.limits)
      this.#hosts.set(kind, host)
      return host
    })
  }

  /** The host that measures on a device; with a track, one with a process that serves this track alone. */
  hostOf = (use: Use, track?: string): Host | undefined => {
    const host = this.#hostsNow().find(({ kind }) => serves(kind, use))
    if (!host || track === undefined) return host
    const beside = this.#beside.get(host.kind) ?? new Map<string, Host>()
    this.#beside.set(host.kind, beside)
    const own = beside.get(track) ?? new Host(host.kind, this.limits)
    beside.set(track, own)
    return own
  }

  /** Ends the processes of tracks: they hold memory of their GPUs. */
  async closeTracks(): Promise<void> {
    const beside = [...this.#beside.values()].flatMap((hosts) => [...hosts.values()])
    this.#beside.clear()
    await Promise.all(beside.map((host) => host.close()))
  }

  /**
   * Devices of the hosts for which `wants` holds (of all hosts when absent), asking only those not asked before
   * unless `refresh`. A host that cannot be had stands in the list as unavailable devices, one for each backend.
   * `onSome` gets the devices of the hosts that have answered, each time one does while others are still to come.
   */
  async devices(refresh: boolean, wants: (kind: HostKind) => boolean = () => true, onSome: (devices: Device[]) => void = () => undefined): Promise<Device[]> {
    const wanted = this.#hostsNow().filter((host) => wants(host.kind))
    const answered = new Map<Host, Device[]>()
    // While hosts are asked again, what they said last stands.
    const inOrder = () => withTwins(wanted.flatMap((host) => answered.get(host) ?? this.#known.get(host) ?? []), this.#all())
    await Promise.all(
      wanted.map(async (host) => {
        answered.set(host, await this.#devicesOf(host, refresh))
        if (answered.size < wanted.length) onSome(inOrder())
      }),
    )
    return inOrder()
  }

  /** What is known of the other machines that these devices are in. */
  machines(devices: readonly Device[]): { name: string; facts: MachineFacts }[] {
    const facts = new Map(this.#hostsNow().flatMap(({ kind }) => (kind.machine === undefined ? [] : [[kind.machine, kind.facts?.()] as const])))
    return [...new Set(devices.flatMap(({ host }) => host ?? []))].flatMap((name) => {
      const of = facts.get(name)
      return of ? [{ name, facts: of }] : []
    })
  }

  /** Devices known so far, asking nobody. */
  known(): Device[] {
    return withTwins(this.#all())
  }

  #all(): Device[] {
    return this.#hostsNow().flatMap((host) => this.#known.get(host) ?? [])
  }

  async close(): Promise<void> {
    await Promise.all([...[...this.#hosts.values()].map((host) => host.close()), this.closeTracks()])
  }

  async #devicesOf(host: Host, refresh: boolean): Promise<Device[]> {
    const asking = this.#asking.get(host)
    if (asking) return asking
    const known = this.#known.get(host)
    if (known && !refresh && !host.outdated) return known
    const asked = this.#ask(host).finally(() => this.#asking.delete(host))
    this.#asking.set(host, asked)
    return asked
  }

  async #ask(host: Host): Promise<Device[]> {
    try {
      const devices = this.told(await host.devices())
      this.#known.set(host, devices)
      return devices
    } catch (error) {
      // Not kept: what stopped it may be gone by the next time.
      this.#known.delete(host)
      const reason = error instanceof Error ? error.message : String(error)
      const { machine, backends } = host.kind
      // A machine that cannot be reached is one entry, whatever it would have.
      return machine === undefined ? backends.map((backend) => missingDevice(backend, reason)) : backends.slice(0, 1).map((backend) => remoteDevice(machine, { ...missingDevice(backend, reason), name: machine }))
    }
  }
}

/**
 * What disturbs a device that cannot tell itself, and how much of its memory is free, from another backend's view of the same card: a page knows nothing of
 * the processes beside it, the vendor's own library does. Two devices are one card where they have the same name and
 * nothing else has it (but for those that say themselves which card they are); of two equal cards nobody can say which one the page was given.
 */
export function withTwins(devices: readonly Device[], known: readonly Device[] = devices): Device[] {
  return devices.map((device) => {
    if (device.disturbances !== undefined || !device.available.ok || device.software) return device
    const twins = known.filter((other) => other.backend !== device.backend && other.host === device.host && other.name === device.name && other.available.ok && !other.sameHardwareAs)
    const [twin] = twins
    if (!twin || twins.length > 1) return device
    const { disturbances, memoryBytes } = twin
    return { ...device, memoryBytes: Math.min(device.memoryBytes, memoryBytes), ...(disturbances ? { disturbances } : {}) }
  })
}
