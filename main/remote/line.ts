import { z } from 'zod'
import type { HostLink } from '@core/measure/protocol'
import type { MachineFacts } from '@core/session/types'
import { version } from '../../package.json'
import { FrameError, frameOf, FrameReader } from '../agent/frames'
import { AGENT_PROTOCOL, fromAgentSchema, LINE, type AgentHost, type AgentState, type FromAgent, type ToAgent } from '../agent/protocol'
import { remoteProblemOf, RemoteProblem } from './problem'
import type { Ssh } from './ssh'

/** Results with all their samples; a case of ten million samples would still fit. */
const MAX_MESSAGE_BYTES = 2 ** 28

/** What login scripts may print before the agent speaks. */
const MAX_PREAMBLE_BYTES = 2 ** 16

/** Longest wait for the agent's first words: connecting, logging in, loading. */
const HELLO_MS = 60_000

/** Longest wait for a measurement process there to be ready. */
const READY_MS = 60_000

/** A line without channels is closed after this long. */
const LINGER_MS = 2000

/** The agent is not installed there; what the machine is. */
export class AgentMissing extends Error {
  override name = 'AgentMissing'
  constructor(readonly platform: string) {
    super(`no agent for ${platform}`)
  }
}

const brokenSchema = z.object({ type: z.literal('host'), channel: z.number(), message: z.unknown() })

interface Channel {
  hear(message: unknown): void
  leave(reason: string): void
}

export interface LineOptions {
  /** The machine, as the user calls it and as ssh does. */
  name: string
  destination: string
  onState?: (devices: AgentState[]) => void
  onClose?: () => void
  /** Silence after which the line is taken for broken, in ms. */
  silenceMs?: number
}

/** A line to an agent, over the streams of a process that leads to it. */
export class RemoteLine {
  readonly #channels = new Map<number, Channel>()
  readonly #reader = new FrameReader(MAX_MESSAGE_BYTES)
  #nextChannel = 1
  #closed = false
  #linger: NodeJS.Timeout | undefined
  #watch: NodeJS.Timeout | undefined
  #heardAt = performance.now()

  private constructor(
    private readonly ssh: Ssh,
    private readonly options: LineOptions,
    readonly facts: MachineFacts,
  ) {}

  /** Whether it still leads to an agent. */
  get isOpen(): boolean {
    return !this.#closed
  }

  /** Resolves when the agent has said hello. Rejects with AgentMissing or a RemoteProblem. */
  static open(ssh: Ssh, options: LineOptions): Promise<RemoteLine> {
    const { name, destination } = options
    return new Promise((resolve, reject) => {
      let before = Buffer.alloc(0)
      let stderr = ''
      const late = setTimeout(() => fail(new RemoteProblem(`${name} did not answer within ${HELLO_MS / 1000} s.`, true)), HELLO_MS)
      const fail = (error: Error) => {
        clearTimeout(late)
        ssh.kill('SIGKILL')
        reject(error)
      }
      ssh.stderr.setEncoding('utf8').on('data', (text: string) => (stderr = (stderr + text).slice(-8000)))
      ssh.stdin.on('error', () => undefined)
      ssh.on('error', (error) => fail(new RemoteProblem(`ssh could not be started: ${error.message}`, false)))
      ssh.on('close', () => {
        const missing = /opscope-agent-missing (\S+ \S+)/.exec(before.toString('latin1'))
        fail(missing ? new AgentMissing(missing[1]!) : remoteProblemOf(name, destination, stderr, `The agent on ${name} ended before it was ready.`))
      })
      const onData = (chunk: Buffer) => {
        before = Buffer.concat([before, chunk])
        const text = before.toString('latin1')
        const banner = /(?:^|\n)opscope-agent (\d+)\r?\n/.exec(text)
        if (!banner) {
          if (before.length > MAX_PREAMBLE_BYTES) fail(new RemoteProblem(`${name} answered with something that is not Opscope's agent.`, false))
          return
        }
        if (Number(banner[1]) !== AGENT_PROTOCOL) return fail(otherVersion(name, `agent protocol ${banner[1]}`, `${AGENT_PROTOCOL}`))
        const rest = before.subarray(banner.index + banner[0].length)
        const reader = new FrameReader(MAX_MESSAGE_BYTES)
        ssh.stdout.off('data', onData)
        const onHello = (part: Buffer) => {
          try {
            const [first, ...more] = reader.push(part)
            if (first === undefined) return
            const hello = fromAgentSchema.safeParse(first)
            if (!hello.success || hello.data.type !== 'hello') return fail(new RemoteProblem(`The agent on ${name} began with something other than its hello.`, false))
            if (hello.data.version !== version) return fail(otherVersion(name, `Opscope ${hello.data.version}`, version))
            clearTimeout(late)
            ssh.stdout.off('data', onHello)
            ssh.removeAllListeners('close')
            const line = new RemoteLine(ssh, options, hello.data.environment)
            line.#begin(() => stderr, more)
            resolve(line)
          } catch (error) {
            fail(new RemoteProblem(`${name} sent ${error instanceof Error ? error.message : String(error)}.`, false))
          }
        }
        ssh.stdout.on('data', onHello)
        if (rest.length > 0) onHello(rest)
      }
      ssh.stdout.on('data', onData)
    })
  }

  #begin(stderr: () => string, first: readonly unknown[]): void {
    const { name, destination, silenceMs = LINE.clientSilenceMs } = this.options
    this.ssh.stdout.on('data', (chunk: Buffer) => {
      this.#heardAt = performance.now()
      try {
        for (const message of this.#reader.push(chunk)) this.#receive(message)
      } catch (error) {
        if (!(error instanceof FrameError)) throw error
        this.#lose(`${name} sent ${error.message}`)
      }
    })
    this.ssh.on('close', () => this.#lose(remoteProblemOf(name, destination, stderr(), `the agent on ${name} ended`).message))
    this.#watch = setInterval(() => {
      if (performance.now() - this.#heardAt > silenceMs) this.#lose(`no answer from ${name} for ${Math.round(silenceMs / 1000)} s`)
      else this.#send({ type: 'ping' })
    }, Math.min(LINE.pingMs, silenceMs / 4))
    this.#watch.unref()
    this.#rest()
    for (const message of first) this.#receive(message)
  }

  /** A measurement process there, once it is ready. Rejects in plain words. */
  start(host: AgentHost): Promise<HostLink> {
    const channel = this.#nextChannel++
    clearTimeout(this.#linger)
    return new Promise((resolve, reject) => {
      let left: string | undefined
      let leave: (reason: string) => void = () => undefined
      const late = setTimeout(() => {
        this.#send({ type: 'end', channel })
        reject(new Error(`the measurement process on ${this.options.name} was not ready within ${READY_MS / 1000} s`))
      }, READY_MS)
      const state: Channel = {
        hear: () => {
          // Its first message is `ready`.
          clearTimeout(late)
          state.hear = () => undefined
          resolve({
            send: (message) => this.#send({ type: 'host', channel, message }),
            onMessage: (listener) => (state.hear = listener),
            onExit: (listener) => {
              leave = listener
              if (left !== undefined) listener(left)
            },
            kill: () => this.#send({ type: 'end', channel }),
          })
        },
        leave: (reason) => {
          clearTimeout(late)
          this.#channels.delete(channel)
          this.#rest()
          left = reason
          reject(this.#closed ? new RemoteProblem(reason, true) : new Error(reason))
          leave(reason)
        },
      }
      if (this.#closed) return state.leave(`the connection to ${this.options.name} was lost`)
      this.#channels.set(channel, state)
      this.#send({ type: 'start', channel, host })
    })
  }

  /** Ends the line and what runs at its other end. */
  close(): void {
    this.#lose(`the connection to ${this.options.name} was closed`)
  }

  /** Closes a line that nobody uses. */
  #rest(): void {
    if (this.#channels.size > 0 || this.#closed) return
    clearTimeout(this.#linger)
    this.#linger = setTimeout(() => this.close(), LINGER_MS)
    this.#linger.unref()
  }

  #send(message: ToAgent): void {
    if (!this.#closed) this.ssh.stdin.write(frameOf(message))
  }

  #receive(raw: unknown): void {
    const parsed = fromAgentSchema.safeParse(raw)
    if (parsed.success) return this.#take(parsed.data)
    // The runner ends a host that says such things; any other message that is none is dropped.
    const { channel, message } = brokenSchema.safeParse(raw).data ?? {}
    if (channel !== undefined) this.#channels.get(channel)?.hear(message)
  }

  #take(message: FromAgent): void {
    switch (message.type) {
      case 'host':
        return this.#channels.get(message.channel)?.hear(message.message)
      case 'ended':
        return this.#channels.get(message.channel)?.leave(message.reason)
      case 'state':
        return this.options.onState?.(message.devices)
      case 'hello':
      case 'refused':
      case 'pong':
    }
  }

  #lose(why: string): void {
    if (this.#closed) return
    this.#closed = true
    clearInterval(this.#watch)
    clearTimeout(this.#linger)
    this.ssh.kill('SIGKILL')
    for (const channel of [...this.#channels.values()]) channel.leave(`the connection to ${this.options.name} was lost: ${why}`)
    this.options.onClose?.()
  }
}

const otherVersion = (name: string, theirs: string, ours: string) =>
  new RemoteProblem(`${name} answers with ${theirs}, and this is ${/^\d+$/.test(ours) ? 'protocol ' : 'Opscope '}${ours}: both sides must be the same version.`, false)
