import { NO_FLEET, type FleetState } from '@core/fleet/state'
import { presetSettings } from '@core/measure/settings'
import type { SweepSpec } from '@core/session/sweep-spec'
import type { SessionSummary } from '@core/session/types'
import type { Settings } from '@core/settings'
import { planSweep, type Plan } from '@core/sweep/plan'
import { summarizeSweep } from '@core/sweep/summary'
import { NotFoundError, type History } from '../history/types'
import { Coalescer } from '../runner/events'
import { nothingToMeasure } from '../runner/run-setup'
import { devicesOf, drain, offers } from './client'
import { LIMITS, openLine, readFleet, writeFleet, type FleetLine, type FleetSettings } from './connect'
import { gather, unfinished } from './gather'
import type { Offer } from './messages'
import type { Removed } from './stored'
import { cancelSession, fleetSeconds, queueSweep, restoreSession } from './sweep'
import { FleetWatch } from './watch'

/** How often the page hears of the fleet at most, in ms; at least as often, so that what is silent is seen to be. */
const TELL_MS = 1000

/** Cancelled cases that are kept, so that a cancel can be undone. */
const MAX_KEPT = 100_000

export interface DeskOptions {
  history: History
  folder: string
  settings(): Pick<Settings, 'presets'>
  /** The state has changed; only while it is watched. */
  changed(state: FleetState): void
  /** These sessions have new results. */
  stored(ids: readonly string[]): void
  notice(notice: { level: 'info' | 'warning'; message: string }): void
}

/** A sweep for a fleet, as the page asks for it: its targets are the fleet's devices of the same backends, or those picked. */
export interface FleetOrder {
  spec: SweepSpec
  devices?: readonly string[] | undefined
  anyOfModel: boolean
  name?: string | undefined
}

/** The fleet as the window has it: one connection, opened when something needs it, and kept until the app ends. */
export class FleetDesk {
  #line: Promise<FleetLine> | undefined
  #watch: FleetWatch | undefined
  #watched = false
  #connection: FleetState['connection'] = 'none'
  #problem: string | undefined
  #collecting: AbortController | undefined
  /** Sessions that lacked results when the history was last looked through. */
  #sessions: readonly string[] = []
  /** What was taken out of the queue, by session, the last one last. */
  readonly #removed = new Map<string, Removed[]>()
  #changing: Promise<unknown> = Promise.resolve()
  readonly #tell = new Coalescer(TELL_MS, () => this.#watched && this.options.changed(this.state()))
  readonly #ticking = setInterval(() => this.#tell.request(), TELL_MS)

  constructor(private readonly options: DeskOptions) {
    this.#ticking.unref()
  }

  state(): FleetState {
    const settings = readFleet(this.options.folder)
    const sessions = this.#sessions.flatMap((id) => this.#summary(id) ?? []).filter(({ state }) => state !== 'cancelled').map(({ id, name, results, planned }) => ({ id, name, results, planned }))
    if (!settings) return { ...NO_FLEET, sessions }
    return { server: settings.server, connection: this.#connection, ...(this.#problem === undefined ? {} : { problem: this.#problem }), ...(this.#watch?.view() ?? { hosts: [], shared: [], unserved: [] }), sessions, collecting: this.#collecting !== undefined }
  }

  /** Undefined where the session is not in the history any more. */
  #summary(id: string): SessionSummary | undefined {
    try {
      return this.options.history.summary(id)
    } catch (error) {
      if (error instanceof NotFoundError) return undefined
      throw error
    }
  }

  /** Whether the page looks: only then are agents listened to. */
  async watch(on: boolean): Promise<FleetState> {
    this.#watched = on
    this.#sessions = unfinished(this.options.history).map(({ id }) => id)
    if (!on) {
      this.#watch?.stop()
      this.#watch = undefined
    } else if (readFleet(this.options.folder)) {
      try {
        const line = await this.#connect()
        if (this.#watched) this.#watch ??= new FleetWatch(line, () => this.#tell.request())
      } catch {
        // The state says why.
      }
    }
    return this.state()
  }

  /** Uses this server from now on; without settings none. The page looks at it at once. */
  async use(settings: FleetSettings): Promise<FleetState> {
    const line = await openLine(settings, 'opscope window')
    await line.close()
    await this.#disconnect()
    writeFleet(this.options.folder, settings)
    return this.watch(true)
  }

  async drain(host?: string): Promise<void> {
    await drain(await this.#connect(), host)
  }

  /** What a sweep comes to on the devices that answer now. Throws Error with the reason where nothing can be measured. */
  async #planned({ spec, devices: picked }: FleetOrder): Promise<{ line: FleetLine; found: Offer[]; there: SweepSpec; plan: Plan }> {
    const line = await this.#connect()
    const found = await offers(line)
    const all = devicesOf(found).filter((device) => device.available.ok && (!picked || picked.includes(device.id)))
    if (all.length === 0) throw new Error('No agent answers. Start one on a machine of the fleet with opscope fleet up, and try again.')
    const targets = all.flatMap((device) => {
      const like = spec.targets.filter(({ backend }) => backend === device.backend).flatMap(({ impls }) => impls)
      const impls = device.impls.filter(({ id, available, preferred }) => available.ok && (like.length > 0 ? like.includes(id) : preferred)).map(({ id }) => id)
      return impls.length > 0 && (like.length > 0 || picked) ? [{ backend: device.backend, device: device.id, impls }] : []
    })
    const there: SweepSpec = { ...spec, targets }
    const plan = planSweep(there, all)
    if (targets.length === 0 || plan.cases.length === 0) throw new Error(targets.length === 0 ? 'The fleet has no device of the backends in this sweep. Pick another backend in Run, or pick devices here.' : nothingToMeasure(plan))
    return { line, found, there, plan }
  }

  /** A sweep on the fleet in words: picks, cases and time. Throws Error with the reason where nothing can be measured. */
  async plan(order: FleetOrder): Promise<{ text: string }> {
    const { found, there, plan } = await this.#planned(order)
    const { preset, measure, repeats = 1 } = there
    const seconds = repeats * fleetSeconds(plan.cases, presetSettings(preset, this.options.settings().presets, measure), devicesOf(found))
    return { text: summarizeSweep(there, plan, seconds).text }
  }

  /** Queues a sweep and begins to collect its results. Throws Error with the reason where nothing can be measured. */
  async run(order: FleetOrder): Promise<{ sessionId: string; cases: number; devices: number }> {
    const { line, found, there, plan } = await this.#planned(order)
    const { anyOfModel, name } = order
    const { history, folder, settings } = this.options
    const { id, cases, used } = await queueSweep({ line, folder, history, presets: settings().presets, found, spec: there, plan, anyOfModel, ...(name ? { name } : {}) })
    this.options.stored([id])
    void this.collect()
    return { sessionId: id, cases, devices: used }
  }

  /** Takes what is left of a session out of the queue. Throws Error with the reason where that cannot be. `undoable`: `restore` may put it back. */
  cancel = (id: string): Promise<{ cases: number; undoable: boolean }> => this.#inTurn(() => this.#cancel(id))

  async #cancel(id: string): Promise<{ cases: number; undoable: boolean }> {
    const line = await this.#connect()
    const { history, folder, stored, notice } = this.options
    const removed = this.#removed.get(id) ?? []
    this.#removed.delete(id)
    this.#removed.set(id, removed)
    // Another collection would take results that this one is to wait for.
    this.#collecting?.abort()
    try {
      await cancelSession({ line, folder, history, limits: LIMITS, id, removed, warn: (message) => notice({ level: 'warning', message: `Fleet: ${message.slice(0, 300)}.` }), newer: this.#tellNewer })
    } finally {
      stored([id])
      void this.collect()
    }
    const cases = removed.length
    for (let kept = this.#kept(); kept > MAX_KEPT && this.#removed.size > 0; kept = this.#kept()) this.#removed.delete(this.#removed.keys().next().value!)
    return { cases, undoable: cases > 0 && this.#removed.has(id) }
  }

  /** Cancelling and its undo share what was taken out of the queue: one after the other. */
  #inTurn<T>(change: () => Promise<T>): Promise<T> {
    const mine = this.#changing.then(change)
    this.#changing = mine.catch(() => undefined)
    return mine
  }

  #kept = () => [...this.#removed.values()].reduce((sum, { length }) => sum + length, 0)

  /** Puts back what `cancel` took out of the queue. Throws Error with the reason where that cannot be. */
  restore = (id: string): Promise<{ cases: number }> => this.#inTurn(() => this.#restore(id))

  async #restore(id: string): Promise<{ cases: number }> {
    const line = await this.#connect()
    const { history, stored } = this.options
    const removed = this.#removed.get(id) ?? []
    const cases = removed.length
    if (cases === 0) throw new Error('the cases of this session are not kept any more; run the sweep again')
    try {
      await restoreSession({ line, history, id, removed })
    } catch (error) {
      throw new Error(`${cases - removed.length} of ${cases} cases could be queued again: ${error instanceof Error ? error.message : String(error)}`, { cause: error })
    } finally {
      if (removed.length === 0) this.#removed.delete(id)
      stored([id])
      void this.collect()
    }
    return { cases }
  }

  #tellNewer = (message: string) => this.options.notice({ level: 'warning', message: `Fleet: ${message}.` })

  /** Takes results until all sessions have theirs. Does nothing where that is under way or nothing is missing. */
  async collect(): Promise<void> {
    // Those queued meanwhile are collected too.
    this.#collecting?.abort()
    const { history, folder, stored, notice } = this.options
    const sessions = (this.#sessions = unfinished(history).map(({ id }) => id))
    if (sessions.length === 0) return
    const own = (this.#collecting = new AbortController())
    const fresh = new Set<string>()
    let warned = false
    const tell = new Coalescer(TELL_MS, () => {
      if (fresh.size > 0) stored([...fresh])
      fresh.clear()
    })
    try {
      const line = await this.#connect()
      await gather({
        history, folder, line, limits: LIMITS, sessions, signal: own.signal,
        stored: (id) => {
          fresh.add(id)
          tell.request()
          this.#tell.request()
        },
        // Once: what is wrong with a message is no news with the next one, and a full disk lasts.
        warn: (message) => {
          if (!warned) notice({ level: 'warning', message: `Fleet: ${message.slice(0, 300)}.` })
          warned = true
        },
        newer: this.#tellNewer,
        finished: (id) => {
          stored([id])
          notice({ level: 'info', message: `The fleet has measured all of “${history.summary(id).name}”.` })
        },
      })
    } catch (error) {
      if (!own.signal.aborted) notice({ level: 'warning', message: `Results of the fleet could not be collected: ${error instanceof Error ? error.message : String(error)}` })
    } finally {
      tell.flush()
      if (this.#collecting === own) this.#collecting = undefined
      this.#tell.request()
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#ticking)
    this.#watched = false
    this.#collecting?.abort()
    await this.#disconnect()
  }

  #connect(): Promise<FleetLine> {
    this.#line ??= this.#open().catch((error: unknown) => {
      this.#line = undefined
      this.#connection = 'lost'
      this.#problem = error instanceof Error ? `${error.message[0]?.toUpperCase()}${error.message.slice(1)}.` : String(error)
      this.#tell.request()
      throw error
    })
    return this.#line
  }

  async #open(): Promise<FleetLine> {
    const settings = readFleet(this.options.folder)
    if (!settings) throw new Error('no NATS server is set')
    this.#connection = 'connecting'
    this.#problem = undefined
    const line = await openLine(settings, 'opscope window')
    this.#connection = 'up'
    void this.#follow(line)
    return line
  }

  /** The connection comes back by itself; meanwhile the page is told that it is away. */
  async #follow({ nc }: FleetLine): Promise<void> {
    for await (const { type } of nc.status()) {
      if (type === 'disconnect') this.#connection = 'lost'
      if (type === 'reconnect') this.#connection = 'up'
      this.#problem = this.#connection === 'lost' ? 'The connection to the NATS server is lost. Opscope reconnects by itself; agents go on with the case they measure.' : undefined
      this.#tell.request()
    }
  }

  async #disconnect(): Promise<void> {
    this.#watch?.stop()
    this.#watch = undefined
    const line = await this.#line?.catch(() => undefined)
    this.#line = undefined
    this.#connection = 'none'
    this.#problem = undefined
    await line?.close()
  }
}
