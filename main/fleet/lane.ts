import type { Consumer, JetStreamClient, JsMsg } from '@nats-io/jetstream'
import { headers } from '@nats-io/transport-node'
import type { Result } from '@core/result'
import { endedResult } from '@core/measure/result/record'
import { findOp } from '@core/ops/registry'
import { version } from '../../package.json'
import { addressedSchema, pack, problemOf, resultSubject, unpack, VERSION_HEADER, workSchema, type Delivery, type Work } from './messages'

/** After so many agents have died over a case it is not tried again. */
export const MAX_DELIVERIES = 4

/** How long one request for work waits for it, in ms. */
const FETCH_MS = 2000

export interface LaneOptions {
  host: string
  /** Where work comes from, in turns; asked for before each request. */
  consumers(): Promise<readonly Consumer[]>
  js: JetStreamClient
  ackWaitMs: number
  /** Measures a case, or resolves with undefined when the agent is leaving, and the work then goes to somebody else, or when it was cancelled, and is not in the queue any more. */
  measure(work: Work): Promise<Result | undefined>
  /** Whether to take no more work. */
  isDraining(): boolean
  started?(work: Work): void
  /** With its result, or without one where it goes to somebody else or was cancelled. */
  ended?(result: Result | undefined): void
  /** Tells of what costs a message and is nobody's result. */
  warn?(message: string): void
}

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

/**
 * Takes work for one device, one case at a time, until it drains. Work stays unacknowledged while it is measured and is
 * kept alive meanwhile; the result is stored by the server before the work is acknowledged, so that the death of
 * an agent at any moment costs a repetition at most. Resolves when it takes no more.
 */
export async function runLane(options: LaneOptions): Promise<void> {
  const { isDraining, warn } = options
  let told = ''
  for (let turn = 0; !isDraining(); turn++) {
    try {
      const consumers = await options.consumers()
      const message = await consumers[turn % consumers.length]!.next({ expires: consumers.length > 1 ? 1000 : FETCH_MS })
      told = ''
      if (!message) continue
      // Drained meanwhile: it goes to the next one at once.
      if (isDraining()) message.nak()
      else await take(message, options)
    } catch (error) {
      // The server is away, or restarts; the connection comes back by itself.
      if (isDraining()) return
      const problem = error instanceof Error ? error.message : String(error)
      if (problem !== told) warn?.(`work could not be taken: ${problem}`)
      told = problem
      await pause(500)
    }
  }
}

async function take(message: JsMsg, options: LaneOptions): Promise<void> {
  let work: Work
  try {
    work = unpack(workSchema, message.data)
  } catch (error) {
    return refuse(message, problemOf(error), options)
  }
  const alive = setInterval(() => stillWorking(message), options.ackWaitMs / 3)
  let result: Result | undefined
  try {
    options.started?.(work)
    result = await resultOf(work, message, options)
    if (!result) return message.nak()
    await deliver(work, result, options)
    await message.ackAck({ timeout: 5000 })
  } finally {
    clearInterval(alive)
    options.ended?.(result)
  }
}

/** Work of another version is answered, so that nobody waits for it; what is none is dropped. */
async function refuse(message: JsMsg, problem: string, options: LaneOptions): Promise<void> {
  let sender
  try {
    sender = unpack(addressedSchema, message.data)
  } catch {
    options.warn?.(`a message that is no work was dropped: ${problem}`)
    // Without a reason: servers before 2.10 take one with a reason for no answer at all.
    message.term()
    return
  }
  options.warn?.(`work was refused: ${problem}`)
  await deliver(sender, endedResult({ resultId: sender.resultId, case: sender.case, seed: sender.settings.seed, status: 'failed', message: `The agent on ${options.host} cannot read this work (${problem}). It should have the same version of Opscope as its sender.` }), options)
  await message.ackAck({ timeout: 5000 })
}

function stillWorking(message: JsMsg): void {
  try {
    message.working()
  } catch {
    // The connection is closed: the server gives the work to somebody else.
  }
}

async function resultOf(work: Work, message: JsMsg, options: LaneOptions): Promise<Result | undefined> {
  const without = (status: 'failed' | 'crashed', text: string): Result => endedResult({ resultId: work.resultId, case: work.case, seed: work.settings.seed, status, message: text })
  if (!findOp(work.case.op)) return without('failed', `This version has no operation "${work.case.op}".`)
  if (message.info.deliveryCount > MAX_DELIVERIES) return without('crashed', `not tried again: ${MAX_DELIVERIES} times the agent that measured it went away`)
  return options.measure(work)
}

/** Stores a result with the server, trying until it is there. Its id keeps a repetition from being stored twice. */
async function deliver({ client, session, run }: Pick<Work, 'client' | 'session' | 'run'>, result: Result, { js, host, warn }: LaneOptions): Promise<void> {
  const whole: Result = run === undefined ? result : { ...result, run }
  const from = headers()
  from.set(VERSION_HEADER, version)
  const send = (one: Result) => js.publish(resultSubject(client), pack({ version: 1, session, host, result: one } satisfies Delivery), { msgID: one.id, timeout: 10_000, headers: from })
  for (let attempt = 0; ; attempt++) {
    try {
      await send(whole)
      return
    } catch (error) {
      if (error instanceof Error && /max_?\s?payload|MaxPayload/i.test(`${error.name} ${error.message}`)) {
        await send(endedResult({ resultId: whole.id, case: whole.case, seed: whole.seed, status: 'failed', message: `The result has ${whole.samplesNs.length} samples, more than one message of this NATS server holds; raise its max_payload.` }))
        return
      }
      // The acknowledgement of the work waits for this; without a server nobody else can take it either.
      if (attempt === 0) warn?.(`a result could not be stored yet: ${error instanceof Error ? error.message : String(error)}`)
      await pause(1000)
    }
  }
}

