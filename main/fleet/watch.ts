import type { FleetDevice, FleetHost, FleetState } from '@core/fleet/state'
import type { FleetLine } from './connect'
import { ALL_PRESENCE, laneOf, modelLane, presenceSchema, PRESENCE_MS, unpack, type Presence } from './messages'
import { queues } from './client'

/** A host that has missed this many signs of life is taken for lost. */
const MISSED = 3
export const SILENT_MS = MISSED * PRESENCE_MS

/** How often the queues are asked for, in ms. */
const QUEUES_MS = 2000

type Queue = Awaited<ReturnType<typeof queues>>[number]
export interface Heard {
  presence: Presence
  /** Of performance.now(). */
  at: number
}

/** What is known of hosts and queues, as the window shows it. `now` is of the clock of `at`. */
export function fleetView(heard: Iterable<Heard>, lanes: readonly Queue[], now: number): Pick<FleetState, 'hosts' | 'shared' | 'unserved'> {
  const left = new Map(lanes.map((lane) => [lane.lane, lane]))
  const served = new Set<string>()
  const models = new Map<string, { model: string; devices: number; waiting: number }>()
  const all = [...heard].sort((a, b) => a.presence.host.localeCompare(b.presence.host, 'en', { numeric: true }))
  for (const { presence, at } of all) {
    for (const { backend, name, driver } of presence.devices) {
      const lane = modelLane(backend, name, driver)
      const model = models.get(lane) ?? { model: name, devices: 0, waiting: left.get(lane)?.waiting ?? 0 }
      models.set(lane, model)
      if (stateOf(presence, now - at) === 'up') model.devices += 1
    }
  }
  const hosts = all.map(({ presence, at }): FleetHost => {
    const silentMs = now - at
    const state = stateOf(presence, silentMs)
    const devices = presence.devices.map((device): FleetDevice => {
      const own = left.get(laneOf(presence.host, device.backend, device.device))
      // Of a host that is lost or stopped, its own line says what is queued.
      if (own) served.add(own.lane)
      const model = models.get(modelLane(device.backend, device.name, device.driver))!
      if (model.devices > 0) served.add(modelLane(device.backend, device.name, device.driver))
      const waiting = own?.waiting ?? 0
      const { driver: _driver, meanSeconds, ...rest } = device
      const ahead = state === 'up' ? waiting + model.waiting / model.devices : 0
      const running = device.current === undefined ? 0 : Math.max(0, (meanSeconds ?? 0) - (device.seconds ?? 0))
      return { ...rest, waiting, ...(meanSeconds === undefined || state === 'silent' || state === 'left' || (ahead === 0 && device.current === undefined) ? {} : { secondsLeft: ahead * meanSeconds + running }) }
    })
    const reason = reasonOf(presence, state, silentMs, devices)
    return { host: presence.host, opscope: presence.opscope, state, devices, ...(reason === undefined ? {} : { reason }) }
  })
  return {
    hosts,
    shared: [...models].flatMap(([lane, { model, waiting }]) => (waiting > 0 && served.has(lane) ? [{ model, waiting }] : [])),
    unserved: lanes.flatMap(({ lane, waiting, measuring }) => (waiting + measuring > 0 && !served.has(lane) ? [{ queue: lane.replace(/-[0-9a-f]{16}$/, ''), waiting: waiting + measuring }] : [])),
  }
}

function stateOf({ leaving, draining }: Presence, silentMs: number): FleetHost['state'] {
  if (leaving) return 'left'
  if (silentMs > SILENT_MS) return 'silent'
  return draining ? 'draining' : 'up'
}

const secondsText = (ms: number) => (ms < 120_000 ? `${Math.round(ms / 1000)} s` : `${Math.round(ms / 60_000)} min`)

function reasonOf({ draining }: Presence, state: FleetHost['state'], silentMs: number, devices: readonly FleetDevice[]): string | undefined {
  const waiting = devices.reduce((sum, device) => sum + device.waiting, 0)
  const kept = waiting > 0 ? ` ${waiting === 1 ? '1 case waits' : `${waiting} cases wait`} until its agent is back.` : ''
  if (state === 'silent') return `No heartbeat for ${secondsText(silentMs)}: the machine, its network or its agent is down.${kept}`
  if (state === 'left') return `${draining ? 'Its agent was drained or stopped' : 'Its agent has ended'} ${secondsText(silentMs)} ago.${kept}`
  if (state === 'draining') return `It finishes its current cases and takes no new ones.${kept}`
  return undefined
}

/** Hosts that are remembered: names that come and go must not fill the memory. */
export const MAX_HOSTS = 10_000

/** Keeps what a host said last, and forgets the one that has been silent longest where there are too many. */
export function remember(heard: Map<string, Heard>, presence: Presence, at: number, most = MAX_HOSTS): void {
  heard.delete(presence.host)
  if (heard.size >= most) heard.delete(heard.keys().next().value!)
  heard.set(presence.host, { presence, at })
}

/** Listens to the agents of a fleet and its queues until it is stopped. `changed` is called when something new was heard. */
export class FleetWatch {
  readonly #heard = new Map<string, Heard>()
  #lanes: readonly Queue[] = []
  readonly #subscription
  readonly #polling
  #asking = false

  constructor(
    private readonly line: FleetLine,
    private readonly changed: () => void,
  ) {
    this.#subscription = line.nc.subscribe(ALL_PRESENCE, {
      callback: (_error, message) => {
        try {
          const presence = unpack(presenceSchema, message.data)
          remember(this.#heard, presence, performance.now())
          changed()
        } catch {
          // Of another version.
        }
      },
    })
    this.#polling = setInterval(() => void this.#ask(), QUEUES_MS)
    void this.#ask()
  }

  view = (): ReturnType<typeof fleetView> => fleetView(this.#heard.values(), this.#lanes, performance.now())

  stop(): void {
    clearInterval(this.#polling)
    this.#subscription.unsubscribe()
  }

  async #ask(): Promise<void> {
    if (this.#asking) return
    this.#asking = true
    try {
      this.#lanes = await queues(this.line)
    } catch {
      // The server is away; the connection tells so.
    } finally {
      this.#asking = false
      this.changed()
    }
  }
}
