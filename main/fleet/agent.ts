import type { ZodType } from 'zod'
import type { Device, DeviceState } from '@core/backend'
import { endedResult } from '@core/measure/result/record'
import type { Result } from '@core/result'
import type { MachineFacts } from '@core/session/types'
import type { DeviceActivity } from '@core/fleet/state'
import type { GpuOrder } from '@core/settings'
import { version } from '../../package.json'
import { gpuOf } from '../exclusive'
import { Host } from '../runner/hosts/host'
import { LostDevices } from '../runner/hosts/lost-devices'
import { LIMITS as HOST_LIMITS, type Limits, type HostKind } from '../runner/types'
import { caseWords } from '../runner/words'
import { opened, workConsumer, type FleetLine, type LineLimits } from './connect'
import { Gate } from './gate'
import { runLane } from './lane'
import { ASK_SUBJECT, CANCEL_SUBJECT, cancelSchema, DRAIN_SUBJECT, drainSchema, laneOf, modelLane, nameSubject, pack, PRESENCE_MS, presenceSubject, unpack, workSubject, type Offer, type Ordered, type Presence, type Work } from './messages'

/** Devices of one model that may have work at once. */
const MAX_SHARED = 10_000

export interface AgentOptions {
  host: string
  facts: MachineFacts
  kinds: readonly HostKind[]
  line: FleetLine
  limits: LineLimits
  hostLimits?: Partial<Limits>
  /** Whether GPUs are measured beside each other, with a process for each; else one device after the other. */
  gpus: GpuOrder
  /** Which devices to measure on; all that can be used when absent. */
  wants?: (device: Device) => boolean
  warn?: (message: string) => void
  /** Called once it answers questions and takes work. */
  ready?: () => void
}

/** What is known of a device beside what it is. */
interface DeviceStatus {
  current?: Work | undefined
  /** What measures it, once it is its turn. */
  measuredBy?: Host | undefined
  since: number
  measured: number
  busySeconds: number
  activity: DeviceActivity
  /** It was lost for good: its work waits, or goes to devices of its model. */
  gone?: boolean
  /** As last read beside samples. */
  conditions?: Pick<DeviceState, 'smClockMhz' | 'temperatureC'>
}

/** How long an agent may take to say that it has a name, in ms; the server says at once that nobody has it. */
const NAME_MS = 1500

/** Whether an agent of this name answers: two would take each other's work and call their devices the same. */
const isTaken = ({ nc }: FleetLine, host: string): Promise<boolean> => nc.request(nameSubject(host), undefined, { timeout: NAME_MS }).then(() => true, () => false)

/** The devices of this machine as members of a fleet, until it is drained. */
export class FleetAgent {
  readonly #hosts: Host[]
  readonly #gate = new Gate()
  readonly #lost = new LostDevices()
  readonly #states = new Map<Device, DeviceStatus>()
  /** What it has or had of sessions that were cancelled. */
  readonly #cancelled = new WeakSet<Work>()
  #draining = false
  #leaving = false

  constructor(private readonly options: AgentOptions) {
    this.#hosts = options.kinds.map((kind) => new Host(kind, { ...HOST_LIMITS, ...options.hostLimits }))
  }

  /** Takes no more work; what is being measured is finished. */
  drain(): void {
    this.#draining = true
  }

  /** Gives back the work it has, and takes no more. */
  leave(): void {
    this.#draining = this.#leaving = true
    for (const host of this.#hosts) host.cancel()
  }

  /** Stops the cases that it has of a session. */
  #cancel({ client, session }: Ordered): void {
    for (const { current, measuredBy } of this.#states.values()) {
      if (current?.client !== client || current.session !== session) continue
      this.#cancelled.add(current)
      measuredBy?.cancel()
    }
  }

  /** Measures until it is drained. Resolves with how many cases it measured. Rejects where this machine has no device to measure on. */
  async run(): Promise<number> {
    const { line, limits, host: name, wants = () => true } = this.options
    if (await isTaken(line, name)) throw new Error(`an agent called ${name} is in this fleet already; give this one another name with --name`)
    const devices: { device: Device; host: Host }[] = []
    for (const host of this.#hosts) for (const device of await host.devices().catch(() => [])) if (device.available.ok && wants(device)) devices.push({ device, host })
    if (devices.length === 0) throw new Error('there is no device here to measure on')
    for (const one of devices) {
      this.#states.set(one.device, { since: 0, measured: 0, busySeconds: 0, activity: 'idle' })
      one.host = this.#hostFor(one.device, one.host)
    }
    const stop = this.#answer(devices.map(({ device }) => device))
    const telling = setInterval(() => this.#tell(), PRESENCE_MS)
    try {
      this.#tell()
      // What asks for agents from now on must find it.
      await line.nc.flush()
      this.options.ready?.()
      await Promise.all(devices.map(async ({ device, host }) => {
        const [own, shared] = [laneOf(name, device.backend, device.id), modelLane(device.backend, device.name, device.driver)]
        const consumers = opened(line, limits, async () => [await workConsumer(line, own, workSubject(own), 1, limits), await workConsumer(line, shared, workSubject(shared), MAX_SHARED, limits)])
        const state = this.#states.get(device)!
        await runLane({
          host: name, consumers, js: line.js, ackWaitMs: limits.ackWaitMs, isDraining: () => this.#draining || state.gone === true, ...(this.options.warn ? { warn: this.options.warn } : {}),
          measure: (work) => this.#measure(work, device, host),
          started: (work) => Object.assign(state, { current: work, since: performance.now() }),
          ended: (result) => {
            if (result) Object.assign(state, { measured: state.measured + 1, busySeconds: state.busySeconds + (performance.now() - state.since) / 1000 })
            state.current = undefined
          },
        })
      }))
      if (!this.#draining) throw new Error('every device here was lost; look after them, then start the agent again')
      return [...this.#states.values()].reduce((sum, { measured }) => sum + measured, 0)
    } finally {
      clearInterval(telling)
      this.#draining = true
      this.#tell(true)
      stop()
      await Promise.all(this.#hosts.map((host) => host.close()))
    }
  }

  /** The host that measures on a device: each GPU has a process of its own where GPUs are measured beside each other. */
  #hostFor(device: Device, host: Host): Host {
    if (!this.#isBeside(device)) return host
    const own = new Host(host.kind, { ...HOST_LIMITS, ...this.options.hostLimits })
    this.#hosts.push(own)
    return own
  }

  #isBeside = (device: Device) => this.options.gpus === 'side-by-side' && gpuOf(device) !== undefined

  async #measure(work: Work, device: Device, host: Host): Promise<Result | undefined> {
    const state = this.#states.get(device)!
    state.activity = 'waiting'
    const leave = await this.#gate.enter(!this.#isBeside(device))
    try {
      if (this.#isNotWanted(work)) return undefined
      state.measuredBy = host
      const result = await this.#measureNow(work, device, host, state)
      state.activity = result?.errorCode === 'device-lost' ? 'lost' : result?.labels?.some(({ kind }) => kind === 'throttled') ? 'throttled' : 'idle'
      const last = result?.deviceStates?.at(-1)?.state
      if (last) state.conditions = { ...(last.smClockMhz === undefined ? {} : { smClockMhz: last.smClockMhz }), ...(last.temperatureC === undefined ? {} : { temperatureC: last.temperatureC }) }
      return result
    } finally {
      state.measuredBy = undefined
      leave()
    }
  }

  /** Whether the case is to end without a result. */
  #isNotWanted = (work: Work) => this.#leaving || this.#cancelled.has(work)

  async #measureNow(work: Work, device: Device, host: Host, state: DeviceStatus): Promise<Result | undefined> {
    const started = performance.now()
    const without = (status: 'failed' | 'crashed' | 'timeout' | 'skipped', message: string, detail?: string) =>
      endedResult({ resultId: work.resultId, case: work.case, seed: work.settings.seed, status, message, ...(detail ? { detail } : {}), wallMs: performance.now() - started })
    const { case: c } = work
    // Work for a model names no device of this machine: it is this one's.
    if (c.backend !== device.backend) return without('failed', `${device.name} is not a device of backend "${c.backend}".`)
    state.activity = 'measuring'
    const request = { case: { ...c, device: device.id }, settings: work.settings, resultId: work.resultId, expectedSeconds: work.expectedSeconds, keep: false, sampleSeed: work.sampleSeed }
    const outcome = await host.measure(request, ({ phase }) => (state.activity = phase === 'waiting' ? 'waiting' : 'measuring'))
    if (outcome.kind !== 'result' && this.#isNotWanted(work)) return undefined
    switch (outcome.kind) {
      case 'result':
        await this.#lost.after(outcome.result, host)
        if (this.#lost.lossOf(outcome.result.case)) {
          state.gone = true
          this.options.warn?.(`${device.id} (${device.name}) is lost and takes no more work: ${outcome.result.message ?? 'no reason was given'}`)
        }
        return outcome.result
      case 'cancelled':
        return without('failed', 'the measurement was cancelled')
      case 'error':
        return without('failed', outcome.message)
      case 'silent':
        return without('timeout', `no progress for ${outcome.seconds} s; worker restarted`)
      case 'gone':
        return without('crashed', `the measurement process ended: ${outcome.reason}`, outcome.detail)
      case 'absent':
        return without('skipped', `not tried, because its measurement process cannot be started: ${outcome.reason}`)
    }
  }

  /** Answers questions and requests of the fleet. */
  #answer(devices: readonly Device[]): () => void {
    const { line: { nc }, host, facts, warn } = this.options
    /** Credentials that allow too little are no message. */
    const isRefused = (error: Error | null) => {
      if (error) warn?.(`the NATS server does not let this agent listen: ${error.message}`)
      return error !== null
    }
    const asked = nc.subscribe(ASK_SUBJECT, { callback: (error, message) => void (isRefused(error) || message.respond(pack({ version: 1, host, facts, devices: [...devices] } satisfies Offer))) })
    const heed = <T>(subject: string, what: string, schema: ZodType<T>, act: (request: T) => void) =>
      nc.subscribe(subject, {
        callback: (error, message) => {
          if (isRefused(error)) return
          try {
            act(unpack(schema, message.data))
          } catch {
            warn?.(`a request to ${what} was not understood and is ignored`)
          }
        },
      })
    const drained = heed(DRAIN_SUBJECT, 'drain', drainSchema, ({ host: wanted }) => (wanted === undefined || wanted === host) && this.drain())
    const cancelled = heed(CANCEL_SUBJECT, 'cancel', cancelSchema, (session) => this.#cancel(session))
    const named = nc.subscribe(nameSubject(host), { callback: (error, message) => void (isRefused(error) || message.respond()) })
    return () => {
      for (const one of [asked, drained, cancelled, named]) one.unsubscribe()
    }
  }

  #tell(leaving = false): void {
    const { line: { nc }, host } = this.options
    const devices = [...this.#states].map(([device, { current, since, measured, busySeconds, activity, conditions }]) => ({
      backend: device.backend, device: device.id, name: device.name.slice(0, 200), driver: device.driver, state: activity, measured, ...conditions,
      // Before the first case the estimate of its sender is all there is.
      ...(measured > 0 ? { meanSeconds: busySeconds / measured } : current ? { meanSeconds: current.expectedSeconds } : {}),
      ...(current ? { current: caseWords({ ...current.case, device: device.id }).slice(0, 400), seconds: (performance.now() - since) / 1000 } : {}),
    }))
    if (!nc.isClosed()) nc.publish(presenceSubject(host), pack({ version: 1, host, opscope: version, draining: this.#draining, ...(leaving ? { leaving } : {}), devices } satisfies Presence))
  }
}
