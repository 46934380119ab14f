import type { Device } from '@core/backend'
import { Host } from './host'
import type { Limits } from './limits'
import { missingDevice } from './missing-device'
import { withTwins } from './twins'
import type { HostKind } from './types'

/** Every host the app has, and the devices they reported, kept until asked again. */
export class Fleet {
  readonly #hosts: readonly Host[]
  readonly #known = new Map<Host, Device[]>()
  /** Questions that are not answered yet: a host is asked one thing at a time. */
  readonly #asking = new Map<Host, Promise<Device[]>>()

  /** `told`: what is known of devices beside what hosts say. */
  constructor(
    kinds: readonly HostKind[],
    limits: Limits,
    private readonly told: (devices: Device[]) => Device[] = (devices) => devices,
  ) {
    this.#hosts = kinds.map((kind) => new Host(kind, limits))
  }

  hostOf = (backend: string): Host | undefined => this.#hosts.find((host) => host.kind.backends.includes(backend))

  /**
   * Devices of the hosts that serve these backends (of all hosts when absent), asking only those not asked before
   * unless `refresh`. A host that cannot be had stands in the list as unavailable devices, one for each backend.
   * `onSome` gets the devices of the hosts that have answered, each time one does while others are still to come.
   */
  async devices(refresh: boolean, backends?: ReadonlySet<string>, onSome: (devices: Device[]) => void = () => undefined): Promise<Device[]> {
    const wanted = this.#hosts.filter((host) => !backends || host.kind.backends.some((id) => backends.has(id)))
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

  /** Devices known so far, asking nobody. */
  known(): Device[] {
    return withTwins(this.#all())
  }

  #all(): Device[] {
    return this.#hosts.flatMap((host) => this.#known.get(host) ?? [])
  }

  async close(): Promise<void> {
    await Promise.all(this.#hosts.map((host) => host.close()))
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
      return host.kind.backends.map((backend) => missingDevice(backend, reason))
    }
  }
}
