import type { Duplex, Readable, Writable } from 'node:stream'
import type { Device } from '@core/backend'
import type { FromHost, HostLink, ToHost } from '@core/measure/protocol'
import { fromHostSchema } from '@core/measure/protocol'
import { findOp } from '@core/ops/registry'
import type { MachineFacts } from '@core/session/types'
import type { HostKind } from '../runner/types'
import { FrameError, frameOf, FrameReader } from './frames'
import { BANNER, LINE, toAgentSchema, type AgentHost, type AgentState, type FromAgent, type ToAgent } from './protocol'

/** Requests are cases and questions; nothing of them is large. */
const MAX_REQUEST_BYTES = 2 ** 20

/** Channels that may be open at once. */
const MAX_CHANNELS = 16

export interface AgentOptions {
  version: string
  environment: MachineFacts
  /** The kind of host that serves a channel. */
  hostKind(host: AgentHost): HostKind
  /** How long nothing may arrive before the line is taken for gone. Tests shorten it. */
  silenceMs?: number
}

/** Streams of a line: those of this process, or of a test. */
export interface LineStreams {
  input: Readable | Duplex
  output: Writable | Duplex
}

type MeasureMessage = Extract<ToHost, { type: 'measure' }>

/** What the agent tells of its devices: from what passes between the runner and the hosts. */
class States {
  readonly #states = new Map<string, AgentState>()
  readonly #running = new Map<string, MeasureMessage>()

  constructor(private readonly changed: (states: AgentState[]) => void) {}

  asked(channel: number, message: ToHost): void {
    if (message.type === 'measure') this.#running.set(`${channel} ${message.id}`, message)
  }

  /** A message of a host that passed by. */
  said(channel: number, message: FromHost): void {
    if (message.type === 'devices') return this.#list(message.devices)
    if (message.type === 'ready') return
    const running = this.#running.get(`${channel} ${message.id}`)
    if (!running) return
    if (message.type === 'progress') return this.#set(running, { activity: message.phase === 'waiting' ? 'waiting' : 'measuring' })
    this.#running.delete(`${channel} ${message.id}`)
    if (message.type !== 'result') return this.#set(running, { activity: 'idle' })
    const { errorCode, labels = [], deviceStates = [] } = message.result
    const { smClockMhz, temperatureC } = deviceStates.at(-1)?.state ?? {}
    this.#set(running, { activity: errorCode === 'device-lost' ? 'lost' : labels.some(({ kind }) => kind === 'throttled') ? 'throttled' : 'idle', smClockMhz, temperatureC })
  }

  ended(channel: number): void {
    for (const [key, running] of this.#running) {
      if (!key.startsWith(`${channel} `)) continue
      this.#running.delete(key)
      this.#set(running, { activity: 'idle' })
    }
  }

  #list(devices: readonly Device[]): void {
    for (const { backend, id, name, available } of devices) {
      const key = `${backend} ${id}`
      const known = this.#states.get(key)
      if (available.ok && !known) this.#states.set(key, { backend, device: id, name: name.slice(0, 200), activity: 'idle' })
      if (!available.ok && known) this.#states.set(key, { ...known, activity: 'lost' })
    }
    this.changed([...this.#states.values()])
  }

  #set({ case: { backend, device } }: MeasureMessage, change: Partial<AgentState>): void {
    const key = `${backend} ${device}`
    const before = this.#states.get(key)
    if (!before) return
    const next = { ...before, ...change }
    if (JSON.stringify(next) === JSON.stringify(before)) return
    this.#states.set(key, next)
    this.changed([...this.#states.values()])
  }
}

/** Serves the devices of this machine over a line until it closes or nothing arrives for a while. Resolves with why it ended. */
export function serveAgent({ input, output }: LineStreams, options: AgentOptions): Promise<string> {
  const { silenceMs = LINE.agentSilenceMs } = options
  const links = new Map<number, HostLink | 'starting' | 'ending'>()
  const reader = new FrameReader(MAX_REQUEST_BYTES)
  const { promise: ended, resolve: end } = Promise.withResolvers<string>()
  let open = true
  const send = (message: FromAgent) => {
    if (open) output.write(frameOf(message))
  }
  const states = new States((devices) => send({ type: 'state', devices }))
  const refuse = (reason: string) => send({ type: 'refused', reason: reason.slice(0, 1000) })

  async function start({ channel, host }: Extract<ToAgent, { type: 'start' }>): Promise<void> {
    if (links.has(channel)) return refuse(`channel ${channel} is in use`)
    if (links.size >= MAX_CHANNELS) return refuse(`at most ${MAX_CHANNELS} channels are open at once`)
    links.set(channel, 'starting')
    const leave = (reason: string) => {
      links.delete(channel)
      states.ended(channel)
      send({ type: 'ended', channel, reason: reason.slice(0, 20_000) })
    }
    try {
      const link = await options.hostKind(host).start()
      const wanted = links.get(channel) === 'starting' && open
      link.onExit(leave)
      if (!wanted) return link.kill()
      link.onMessage((raw) => {
        const parsed = fromHostSchema.safeParse(raw)
        if (!parsed.success) {
          // The runner would end such a host too.
          link.kill()
          return
        }
        states.said(channel, parsed.data)
        send({ type: 'host', channel, message: parsed.data })
      })
      links.set(channel, link)
      send({ type: 'host', channel, message: { type: 'ready' } })
    } catch (error) {
      leave(error instanceof Error ? error.message : String(error))
    }
  }

  function receive(raw: unknown): void {
    const parsed = toAgentSchema.safeParse(raw)
    if (!parsed.success) {
      const issue = parsed.error.issues[0]
      return refuse(`a message that is not in the protocol: ${issue?.path.join('.') || 'message'}: ${issue?.message ?? 'unknown'}`)
    }
    const message = parsed.data
    switch (message.type) {
      case 'ping':
        return send({ type: 'pong' })
      case 'start':
        return void start(message)
      case 'end': {
        const link = links.get(message.channel)
        if (link === 'starting') links.set(message.channel, 'ending')
        else if (link && link !== 'ending') link.kill()
        return
      }
      case 'host': {
        const link = links.get(message.channel)
        if (!link || typeof link === 'string') return refuse(`channel ${message.channel} has no measurement process`)
        const asked = message.message
        if (asked.type === 'measure' && !findOp(asked.case.op)) return send({ type: 'host', channel: message.channel, message: { type: 'error', id: asked.id, message: `This version has no operation "${asked.case.op}".` } })
        states.asked(message.channel, asked)
        return link.send(asked)
      }
    }
  }

  let heardAt = performance.now()
  const watch = setInterval(() => {
    if (performance.now() - heardAt > silenceMs) end(`nothing arrived for ${Math.round(silenceMs / 1000)} s`)
  }, Math.min(LINE.pingMs, silenceMs / 4))
  input.on('data', (chunk: Buffer) => {
    heardAt = performance.now()
    try {
      for (const message of reader.push(chunk)) receive(message)
    } catch (error) {
      if (error instanceof FrameError) return end(`the other side sent ${error.message}`)
      throw error
    }
  })
  input.on('end', () => end('the line was closed'))
  input.on('error', (error) => end(`the line broke: ${error.message}`))
  output.on('error', (error) => end(`the line broke: ${error.message}`))
  output.write(`${BANNER}\n`)
  send({ type: 'hello', version: options.version, pid: process.pid, environment: options.environment, silenceMs })

  return ended.finally(() => {
    open = false
    clearInterval(watch)
    for (const link of links.values()) if (typeof link !== 'string') link.kill()
  })
}
