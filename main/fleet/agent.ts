import type { Device } from '@core/backend'
import { endedResult } from '@core/measure/result/record'
import type { Result } from '@core/result'
import type { MachineFacts } from '@core/session/types'
import { version } from '../../package.json'
import { Host } from '../runner/hosts/host'
import { LIMITS as HOST_LIMITS, type Limits, type HostKind } from '../runner/types'
import { caseWords } from '../runner/words'
import { workConsumer, type FleetLine, type LineLimits } from './connect'
import { runLane } from './lane'
import { ASK_SUBJECT, DRAIN_SUBJECT, drainSchema, laneOf, modelLane, pack, presenceSubject, unpack, workSubject, type Offer, type Presence, type Work } from './messages'

/** How often an agent tells what it does, in ms. */
export const PRESENCE_MS = 2000

/** Devices of one model that may have work at once. */
const MAX_SHARED = 10_000

export interface AgentOptions {
  host: string
  facts: MachineFacts
  kinds: readonly HostKind[]
  line: FleetLine
  limits: LineLimits
  hostLimits?: Partial<Limits>
  /** Which devices to measure on; all that can be used when absent. */
  wants?: (device: Device) => boolean
  warn?: (message: string) => void
}

/** The devices of this machine as members of a fleet, until it is drained. */
export class FleetAgent {
  readonly #hosts: Host[]
  readonly #states = new Map<Device, { current?: Work; since: number; measured: number; lost: boolean }>()
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

  /** Measures until it is drained. Resolves with how many cases it measured. Rejects where this machine has no device to measure on. */
  async run(): Promise<number> {
    const { line, limits, host: name, wants = () => true } = this.options
    const devices: { device: Device; host: Host }[] = []
    for (const host of this.#hosts) for (const device of await host.devices().catch(() => [])) if (device.available.ok && wants(device)) devices.push({ device, host })
    if (devices.length === 0) throw new Error('there is no device here to measure on')
    for (const { device } of devices) this.#states.set(device, { since: 0, measured: 0, lost: false })
    const stop = this.#answer(devices.map(({ device }) => device))
    const telling = setInterval(() => this.#tell(), PRESENCE_MS)
    try {
      this.#tell()
      await Promise.all(devices.map(async ({ device, host }) => {
        const [own, shared] = [laneOf(name, device.backend, device.id), modelLane(device.backend, device.name, device.driver)]
        const consumers = [await workConsumer(line, own, workSubject(own), 1, limits), await workConsumer(line, shared, workSubject(shared), MAX_SHARED, limits)]
        const state = this.#states.get(device)!
        await runLane({
          host: name, consumers, js: line.js, ackWaitMs: limits.ackWaitMs, isDraining: () => this.#draining, ...(this.options.warn ? { warn: this.options.warn } : {}),
          measure: (work) => this.#measure(work, device, host),
          started: (work) => Object.assign(state, { current: work, since: performance.now() }),
          ended: () => Object.assign(state, { current: undefined, measured: state.measured + 1 }),
        })
      }))
      return [...this.#states.values()].reduce((sum, { measured }) => sum + measured, 0)
    } finally {
      clearInterval(telling)
      this.#draining = true
      this.#tell(true)
      stop()
      await Promise.all(this.#hosts.map((host) => host.close()))
    }
  }

  async #measure(work: Work, device: Device, host: Host): Promise<Result | undefined> {
    const started = performance.now()
    const without = (status: 'failed' | 'crashed' | 'timeout' | 'skipped', message: string, detail?: string) =>
      endedResult({ resultId: work.resultId, case: work.case, seed: work.settings.seed, status, message, ...(detail ? { detail } : {}), wallMs: performance.now() - started })
    const { case: c } = work
    // Work for a model names no device of this machine: it is this one's.
    if (c.backend !== device.backend) return without('failed', `${device.name} is not a device of backend "${c.backend}".`)
    const outcome = await host.measure({ case: { ...c, device: device.id }, settings: work.settings, resultId: work.resultId, expectedSeconds: work.expectedSeconds, keep: false, sampleSeed: work.sampleSeed }, () => undefined)
    switch (outcome.kind) {
      case 'result':
        if (outcome.result.errorCode === 'device-lost' || outcome.result.errorCode === 'kernel-failed') await host.recycle()
        return outcome.result
      case 'cancelled':
        return this.#leaving ? undefined : without('failed', 'the measurement was cancelled')
      case 'error':
        return without('failed', outcome.message)
      case 'silent':
        return without('timeout', `nothing was heard of this case for ${outcome.seconds} s; its process was ended and replaced`)
      case 'gone':
        return this.#leaving ? undefined : without('crashed', `the measurement process ended: ${outcome.reason}`, outcome.detail)
      case 'absent':
        return without('skipped', `not tried, because its measurement process cannot be started: ${outcome.reason}`)
    }
  }

  /** Answers questions and requests of the fleet. */
  #answer(devices: readonly Device[]): () => void {
    const { line: { nc }, host, facts, warn } = this.options
    const asked = nc.subscribe(ASK_SUBJECT, { callback: (_error, message) => void message.respond(pack({ version: 1, host, facts, devices: [...devices] } satisfies Offer)) })
    const drained = nc.subscribe(DRAIN_SUBJECT, {
      callback: (_error, message) => {
        try {
          const { host: wanted } = unpack(drainSchema, message.data)
          if (wanted === undefined || wanted === host) this.drain()
        } catch {
          warn?.('a request to drain was not understood and is ignored')
        }
      },
    })
    return () => {
      asked.unsubscribe()
      drained.unsubscribe()
    }
  }

  #tell(leaving = false): void {
    const { line: { nc }, host } = this.options
    const devices = [...this.#states].map(([device, { current, since, measured, lost }]) => ({
      backend: device.backend, device: device.id, name: device.name.slice(0, 200), state: lost ? ('lost' as const) : current ? ('measuring' as const) : ('idle' as const), measured,
      ...(current ? { current: caseWords(current.case).slice(0, 400), seconds: (performance.now() - since) / 1000 } : {}),
    }))
    if (!nc.isClosed()) nc.publish(presenceSubject(host), pack({ version: 1, host, opscope: version, draining: this.#draining, ...(leaving ? { leaving } : {}), devices } satisfies Presence))
  }
}
