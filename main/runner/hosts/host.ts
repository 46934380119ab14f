import { z } from 'zod'
import type { Device } from '@core/backend'
import { caseId, type BenchmarkCase } from '@core/case'
import { fromHostSchema, type FromHost, type HostLink, type RoundsPass } from '@core/measure/protocol'
import type { MeasureSettings } from '@core/measure/settings'
import type { Result } from '@core/result'
import type { Limits, HostKind } from '../types'

/** How an exchange with a host ended. Only `result` and `cancelled` leave the host certainly well. */
export type Outcome =
  | { kind: 'result'; result: Result; /** Of the other cases of a pass of rounds. */ others?: readonly Result[] }
  | { kind: 'cancelled' }
  | { kind: 'error'; message: string }
  /** The process or page died, or said something that is not in the protocol and was ended for it. */
  | { kind: 'gone'; reason: string; detail?: string }
  | { kind: 'silent'; seconds: number }
  /** It could not be started. */
  | { kind: 'absent'; reason: string }

export type Progress = Extract<FromHost, { type: 'progress' }>

export interface MeasureRequest {
  case: BenchmarkCase
  settings: MeasureSettings
  resultId: string
  /** Expected wall time of the case, in seconds. */
  expectedSeconds: number
  /** The case comes again soon: the host leaves it open if it can. */
  keep: boolean
  /** It is a block of a case that is measured in rounds (core/measure/protocol.ts). */
  round?: boolean
  /** It begins a pass of rounds. */
  rounds?: RoundsPass
  /** Of what is sampled to verify large outputs; absent: that of the inputs. */
  sampleSeed?: number
}

type Reply = { kind: 'devices'; devices: Device[] } | Outcome

/** The exchange in progress: one at a time. */
interface Exchange {
  id: number
  request: MeasureRequest | undefined
  onProgress: ((progress: Progress) => void) | undefined
  settle(reply: Reply): void
}

/** Ticks of silence that make a hang. Counting ticks, not clock time, forgives a machine that was asleep. */
const SILENT_TICKS = 8

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

/** One measurement host as the runner sees it: started when needed, kept warm, watched, and replaced when it dies. */
export class Host {
  #link: HostLink | undefined
  #exchange: Exchange | undefined
  #nextId = 1
  #quietTicks = 0
  #failedStarts = 0
  #lastFailure = ''
  #closed = false
  /** Settles when the exchanges asked for so far have ended. */
  #turn: Promise<unknown> = Promise.resolve()
  /** Ends the wait of measurements whose turn has not come. */
  readonly #waiting = new Set<() => void>()
  /** What the present process was started with; see HostKind. */
  #setting: string | undefined
  /** The start in progress, and what to call to wait for it no longer. */
  #starting: Promise<void> | undefined
  #abandonStart: (() => void) | undefined
  /** Resolves when the last process is gone. */
  #gone: Promise<void> = Promise.resolve()

  constructor(
    readonly kind: HostKind,
    private readonly limits: Limits,
  ) {}

  /** Whether a setting has changed since its process was started, so that its devices may be others. */
  get outdated(): boolean {
    return this.#link !== undefined && this.kind.setting?.() !== this.#setting
  }

  /** Its devices; one start is tried. Throws with a plain reason when it has none to offer. */
  devices(): Promise<Device[]> {
    return this.#inTurn(() => this.#devices())
  }

  async #devices(): Promise<Device[]> {
    this.#failedStarts = 0
    if (this.outdated) await this.recycle()
    if (!(await this.#connect(1, false))) throw new Error(this.#lastFailure)
    const reply = await this.#ask((id) => ({ type: 'devices', id }), undefined, undefined, this.limits.devicesMs)
    if (reply.kind === 'devices') return reply.devices
    throw new Error(reasonOf(reply))
  }

  measure(request: MeasureRequest, onProgress: (progress: Progress) => void): Promise<Outcome> {
    const { promise: cancelled, resolve } = Promise.withResolvers<Outcome>()
    const stopWaiting = () => resolve({ kind: 'cancelled' })
    this.#waiting.add(stopWaiting)
    const measured = this.#inTurn(() => (this.#waiting.delete(stopWaiting) ? this.#measure(request, onProgress) : cancelled))
    return Promise.race([measured, cancelled])
  }

  async #measure(request: MeasureRequest, onProgress: (progress: Progress) => void): Promise<Outcome> {
    if (!this.#link && !(await this.#connect(this.limits.startAttempts, true))) return { kind: 'absent', reason: this.#lastFailure }
    const { case: c, settings, resultId, keep, round, rounds, sampleSeed } = request
    const silenceMs = Math.max(this.limits.silenceMs, 4000 * request.expectedSeconds)
    const reply = await this.#ask((id) => ({ type: 'measure', id, case: c, settings, resultId, ...(keep ? { keep } : {}), ...(round ? { round } : {}), ...(rounds ? { rounds } : {}), ...(sampleSeed === undefined ? {} : { sampleSeed }) }), request, onProgress, silenceMs)
    return reply.kind === 'devices' ? this.#endFor('answered a measurement with its devices') : reply
  }

  /** Asks the running case to end, and ends the host when it does not answer in time. */
  cancel(): void {
    for (const stopWaiting of this.#waiting) stopWaiting()
    this.#waiting.clear()
    this.#abandonStart?.()
    const exchange = this.#exchange
    if (!exchange?.request || !this.#link) return
    this.#link.send({ type: 'cancel', id: exchange.id })
    setTimeout(() => {
      if (this.#exchange === exchange) this.#end({ kind: 'cancelled' })
    }, this.limits.cancelMs)
  }

  /** Ends the host for good and waits, within reason, for its process to go. */
  async close(): Promise<void> {
    this.#closed = true
    this.#abandonStart?.()
    await this.recycle()
  }

  /** Ends its process and waits, within reason, for it to go; the next question starts another. */
  async recycle(): Promise<void> {
    this.#end({ kind: 'gone', reason: 'it was closed' })
    await Promise.race([this.#gone, pause(this.limits.cancelMs)])
  }

  async #connect(attempts: number, patient: boolean): Promise<boolean> {
    let abandoned = false
    while (!this.#link && this.#failedStarts < attempts && !this.#closed && !abandoned) {
      if (this.#failedStarts > 0) await pause(this.limits.retryMs)
      this.#starting ??= this.#start(patient).finally(() => (this.#starting = undefined))
      const abandon = new Promise<void>((resolve) => {
        this.#abandonStart = () => {
          abandoned = true
          resolve()
        }
      })
      await Promise.race([this.#starting, abandon])
      this.#abandonStart = undefined
    }
    return this.#link !== undefined && !abandoned
  }

  async #start(patient: boolean): Promise<void> {
    try {
      this.#setting = this.kind.setting?.()
      this.#adopt(await this.kind.start(patient))
    } catch (error) {
      this.#lastFailure = error instanceof Error ? error.message : String(error)
      this.#failedStarts += 1
    }
  }

  #adopt(link: HostLink): void {
    if (this.#closed) return link.kill()
    this.#failedStarts = 0
    this.#link = link
    let left = () => {}
    this.#gone = new Promise((resolve) => (left = resolve))
    link.onMessage((message) => {
      if (this.#link === link) this.#receive(message)
    })
    link.onExit((reason) => {
      left()
      if (this.#link !== link) return
      this.#link = undefined
      const [first = '', ...rest] = reason.split('\n')
      this.#exchange?.settle({ kind: 'gone', reason: first, ...(rest.length ? { detail: rest.join('\n') } : {}) })
    })
  }

  /** Runs one exchange after all before it have ended: a host answers one question at a time. */
  #inTurn<T>(exchange: () => Promise<T>): Promise<T> {
    const mine = this.#turn.then(exchange)
    this.#turn = mine.catch(() => undefined)
    return mine
  }

  /** Within a turn. */
  #ask(message: (id: number) => Parameters<HostLink['send']>[0], request: Exchange['request'], onProgress: Exchange['onProgress'], silenceMs: number): Promise<Reply> {
    const id = this.#nextId++
    return new Promise((resolve) => {
      this.#quietTicks = 0
      const watchdog = setInterval(() => {
        this.#quietTicks += 1
        if (this.#quietTicks >= SILENT_TICKS) this.#end({ kind: 'silent', seconds: Math.round(silenceMs / 1000) })
      }, silenceMs / SILENT_TICKS)
      const settle = (reply: Reply) => {
        clearInterval(watchdog)
        this.#exchange = undefined
        resolve(reply)
      }
      this.#exchange = { id, request, onProgress, settle }
      try {
        if (!this.#link) throw new Error('it ended')
        this.#link.send(message(id))
      } catch (error) {
        this.#end({ kind: 'gone', reason: error instanceof Error ? error.message : String(error) })
      }
    })
  }

  #receive(raw: unknown): void {
    const parsed = fromHostSchema.safeParse(raw)
    if (!parsed.success) {
      this.#endFor('sent a message that is not in the protocol', z.prettifyError(parsed.error))
      return
    }
    const message = parsed.data
    const exchange = this.#exchange
    // Late words about an exchange that is over are of no use to anyone.
    if (message.type === 'ready' || !exchange || message.id !== exchange.id) return
    this.#quietTicks = 0
    switch (message.type) {
      case 'progress':
        exchange.onProgress?.(message)
        break
      case 'result':
        if (exchange.request && isAnswer(message, exchange.request)) exchange.settle({ kind: 'result', result: message.result, ...(message.others ? { others: message.others } : {}) })
        else this.#endFor('sent the result of a case that was not asked for')
        break
      case 'devices':
        exchange.settle({ kind: 'devices', devices: message.devices })
        break
      case 'cancelled':
        exchange.settle({ kind: 'cancelled' })
        break
      case 'error':
        exchange.settle({ kind: 'error', message: message.message })
        break
    }
  }

  /** Ends the host because it broke the protocol. */
  #endFor(what: string, detail?: string): Outcome {
    const outcome: Outcome = { kind: 'gone', reason: `it ${what} and was ended`, ...(detail ? { detail } : {}) }
    this.#end(outcome)
    return outcome
  }

  #end(reply: Reply): void {
    const link = this.#link
    this.#link = undefined
    link?.kill()
    this.#exchange?.settle(reply)
  }
}

function isAnswer({ result, others = [] }: Extract<FromHost, { type: 'result' }>, request: MeasureRequest): boolean {
  const asked = [request.case, ...(request.rounds?.others ?? [])]
  return result.id === request.resultId && asked.length === others.length + 1 && [result, ...others].every((one, i) => caseId(one.case) === caseId(asked[i]!))
}

function reasonOf(outcome: Outcome): string {
  switch (outcome.kind) {
    case 'error':
      return outcome.message
    case 'gone':
      return outcome.reason
    case 'silent':
      return `it said nothing for ${outcome.seconds} s`
    default:
      return 'it did not answer'
  }
}
