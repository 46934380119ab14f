import { AckPolicy, type JsMsg } from '@nats-io/jetstream'
import { nanos } from '@nats-io/transport-node'
import { deviceOn } from '@core/fleet/place'
import type { Result } from '@core/result'
import { NotFoundError, type History } from '../history/types'
import { opened, type FleetLine, type LineLimits } from './connect'
import { deliverySchema, problemOf, RESULT_STREAM, resultSubject, unpack } from './messages'

/** Results that one request takes, and bytes of them that are held before they are written. */
const COLLECTED_AT_ONCE = 256
const HELD_BYTES = 2 ** 23

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

export interface CollectOptions {
  history: Pick<History, 'addNewResults'>
  client: string
  line: FleetLine
  limits: LineLimits
  /** After each result that is new in the history. */
  stored?: (session: string, resultId: string) => void
  warn?: (message: string) => void
  signal: AbortSignal
}

/**
 * Takes results into the history until the signal aborts. A result is acknowledged after it is on disk; one that comes again,
 * because the acknowledgement was lost or two agents measured the case, is known by its id and not added twice.
 */
export async function collect({ history, client, line, limits, stored, warn, signal }: CollectOptions): Promise<void> {
  const consumerNow = opened(line, limits, async () => {
    await line.jsm.consumers.add(RESULT_STREAM, { durable_name: `collect-${client}`, filter_subject: resultSubject(client), ack_policy: AckPolicy.Explicit, ack_wait: nanos(limits.ackWaitMs), max_ack_pending: 1000 })
    return line.js.consumers.get(RESULT_STREAM, `collect-${client}`)
  })
  const arrived = new Arrived(history, stored, warn)
  let told = ''
  while (!signal.aborted) {
    try {
      const consumer = await consumerNow()
      // What was fetched is stored even when it is to end: it would come again only when its acknowledgement is overdue.
      for await (const message of await consumer.fetch({ max_messages: COLLECTED_AT_ONCE, expires: 1000 })) arrived.take(message)
      arrived.store()
      told = ''
    } catch (error) {
      if (signal.aborted) return
      arrived.forget()
      const problem = error instanceof Error ? error.message : String(error)
      if (problem !== told) warn?.(`results could not be taken: ${problem}`)
      told = problem
      await pause(1000)
    }
  }
}

/** Results that have come and are not stored yet: so many are written to the disk at once. */
class Arrived {
  readonly #held = new Map<string, { message: JsMsg; result: Result }[]>()
  #bytes = 0

  constructor(
    private readonly history: CollectOptions['history'],
    private readonly stored: CollectOptions['stored'],
    private readonly warn: CollectOptions['warn'],
  ) {}

  take(message: JsMsg): void {
    try {
      const { session, host, result } = unpack(deliverySchema, message.data)
      const held = this.#held.get(session) ?? []
      this.#held.set(session, held)
      held.push({ message, result: { ...result, case: { ...result.case, device: deviceOn(host, result.case.device) } } })
      this.#bytes += message.data.length
    } catch (error) {
      this.warn?.(`a message that is no result was dropped: ${problemOf(error)}`)
      message.term()
    }
    if (this.#bytes > HELD_BYTES) this.store()
  }

  /** Writes what is held, then acknowledges it. Throws where the history cannot be written. */
  store(): void {
    for (const [session, held] of this.#held) {
      try {
        for (const id of this.history.addNewResults(session, held.map(({ result }) => result))) this.stored?.(session, id)
      } catch (error) {
        if (!(error instanceof NotFoundError)) throw error
        this.warn?.(`${held.length === 1 ? 'a result' : `${held.length} results`} of session ${session}, which is not in this history any more, ${held.length === 1 ? 'was' : 'were'} dropped`)
      }
      for (const { message } of held) message.ack()
    }
    this.forget()
  }

  /** They are not acknowledged and come again. */
  forget(): void {
    this.#held.clear()
    this.#bytes = 0
  }
}
