import type { ChildProcess } from 'node:child_process'
import type { Duplex } from 'node:stream'
import type { z } from 'zod'
import { CaseError } from '@core/backend'
import { encodeFrame, FrameError, FrameReader, answersSchema, fromWorkerSchema, type Frame, type Answer, type ToWorker } from './protocol'
import { killGroup, spawnGroup } from './launch'

/** How to start a worker: a program of the user's, its arguments, and what it finds in its environment. */
export interface WorkerCommand {
  program: string
  args: readonly string[]
  env: NodeJS.ProcessEnv
}

/** How long a worker may take to answer in ms: without a message, and altogether where somebody else does not watch over that. */
export interface Patience {
  silenceMs: number
  totalMs?: number
}

type WithoutId<T> = T extends unknown ? Omit<T, 'id'> : never
export type Request = WithoutId<ToWorker>
type RequestOf<D extends ToWorker['do']> = Extract<Request, { do: D }>

export interface Reply<D extends ToWorker['do']> {
  answer: Answer<D>
  payload: Buffer
}

interface Exchange {
  id: number
  schema: z.ZodType
  alive(doing: string): void
  resolve(reply: { answer: unknown; payload: Buffer }): void
  reject(error: CaseError): void
}

/** What is kept of a worker's last words, in characters. */
const TAIL = 8000
/** How long the last words of a process that has ended may take to arrive: its own children may hold the pipe open. */
const LAST_WORDS_MS = 300

/** Workers of this process that still run: none of them outlives it. */
const running = new Set<PythonWorker>()
process.on('exit', () => running.forEach((worker) => worker.kill()))

/**
 * A Python process that answers the frames of protocol.ts. It is asked one thing at a time. Whatever goes wrong with the
 * process itself (it dies, hangs, says what is no frame) ends it, rejects the request in progress with a CaseError that
 * says so in plain words with its last words as detail, and refuses all later ones.
 */
export class PythonWorker {
  readonly #child: ChildProcess
  readonly #toWorker: Duplex
  readonly #reader = new FrameReader()
  #exchange: Exchange | undefined
  #nextId = 1
  #tail = ''
  #ended: CaseError | undefined

  constructor({ program, args, env }: WorkerCommand) {
    this.#child = spawnGroup(program, args, { stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe'], env })
    running.add(this)
    const [, , stderr, toWorker, fromWorker] = this.#child.stdio as unknown as [null, null, Duplex, Duplex, Duplex]
    this.#toWorker = toWorker
    // The end of the process tells the rest.
    for (const stream of [stderr, toWorker, fromWorker]) stream.on('error', () => undefined)
    stderr.setEncoding('utf8').on('data', (text: string) => (this.#tail = (this.#tail + text).slice(-TAIL)))
    fromWorker.on('data', (chunk: Buffer) => this.#receive(chunk))
    this.#child.on('error', (error) => this.#end(new CaseError('unsupported', `the Python ${program} could not be started: ${error.message}`)))
    this.#child.on('exit', (code, signal) => {
      // What it had started is of no use without it.
      killGroup(this.#child)
      const over = () => this.#end(this.#fault(`the Python worker ${signal ? `was killed (${signal})` : `ended with status ${code}`}`))
      this.#child.once('close', over)
      setTimeout(over, LAST_WORDS_MS)
    })
  }

  /** Whether it can be asked something. */
  get usable(): boolean {
    return this.#ended === undefined
  }

  /** Throws a CaseError: the worker's own, after which it can be asked further, or one about its end. */
  async ask<D extends ToWorker['do']>(request: RequestOf<D>, patience: Patience, onAlive: (doing: string) => void = () => undefined): Promise<Reply<D>> {
    if (this.#ended) throw this.#ended
    if (this.#exchange) throw new CaseError('internal', `the Python worker was asked to ${request.do} before it had answered`)
    const id = this.#nextId++
    const timers = this.#watch(request.do, patience)
    try {
      const reply = await new Promise<{ answer: unknown; payload: Buffer }>((resolve, reject) => {
        const alive = (doing: string) => {
          timers.heard(doing)
          onAlive(doing)
        }
        this.#exchange = { id, schema: answersSchema[request.do], alive, resolve, reject }
        this.#toWorker.write(encodeFrame({ id, ...request }))
      })
      return reply as Reply<D>
    } finally {
      this.#exchange = undefined
      timers.stop()
    }
  }

  /** Ends the process and all it has started. */
  kill(): void {
    this.#end(new CaseError('internal', 'the Python worker was ended'))
    killGroup(this.#child)
  }

  #watch(what: string, { totalMs, silenceMs }: Patience) {
    let doing = what
    const late = (ms: number, how: string) => setTimeout(() => this.#breakOff(`the Python worker ${how} ${ms / 1000} s (${doing}) and was ended`), ms)
    const total = totalMs === undefined ? undefined : late(totalMs, 'was not done within')
    let silence = late(silenceMs, 'said nothing for')
    const stop = () => [total, silence].forEach(clearTimeout)
    return {
      stop,
      heard: (now: string) => {
        doing = now
        clearTimeout(silence)
        silence = late(silenceMs, 'said nothing for')
      },
    }
  }

  #receive(chunk: Buffer): void {
    if (this.#ended) return
    try {
      for (const frame of this.#reader.push(chunk)) this.#handle(frame)
    } catch (error) {
      if (!(error instanceof FrameError)) throw error
      this.#breakOff(`the Python worker sent ${error.message}; it was ended`)
    }
  }

  #handle({ header, payload }: Frame): void {
    const parsed = fromWorkerSchema.safeParse(header)
    if (!parsed.success) throw new FrameError(`a message that is not in the protocol (${firstIssue(parsed.error)})`)
    const message = parsed.data
    const exchange = this.#exchange
    if (message.type === 'alive') {
      // One that crossed the answer of its request is of no use to anyone.
      if (exchange?.id === message.id) exchange.alive(message.doing)
      return
    }
    if (!exchange || message.id !== exchange.id) throw new FrameError(`an answer to request ${message.id}, expected one to ${exchange?.id ?? 'none'}`)
    if (message.type === 'failure') return exchange.reject(new CaseError(message.code, message.message, message.detail))
    const answer = exchange.schema.safeParse(message.answer)
    if (!answer.success) throw new FrameError(`an answer that is not in the protocol (${firstIssue(answer.error)})`)
    exchange.resolve({ answer: answer.data, payload })
  }

  #breakOff(message: string): void {
    this.#end(this.#fault(message))
    this.kill()
  }

  #fault(message: string): CaseError {
    const tail = this.#tail.trim()
    return new CaseError('internal', message, tail === '' ? undefined : tail)
  }

  #end(error: CaseError): void {
    if (this.#ended) return
    this.#ended = error
    this.#exchange?.reject(error)
    // Stays in `running` until it is gone: a process in the midst of a system call may take its time to die.
    this.#child.once('close', () => running.delete(this))
    if (this.#child.exitCode !== null || this.#child.signalCode !== null || this.#child.pid === undefined) running.delete(this)
  }
}

const firstIssue = ({ issues: [issue] }: z.ZodError) => (issue ? `${issue.path.join('.') || 'message'}: ${issue.message}` : 'unknown')
