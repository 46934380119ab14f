import { AckPolicy } from '@nats-io/jetstream'
import { headers, nanos, type MsgHdrs } from '@nats-io/transport-node'
import { deviceOn } from '@core/fleet/place'
import type { Result } from '@core/result'
import { version } from '../../package.json'
import { NotFoundError, type History } from '../history/types'
import { opened, type FleetLine, type LineLimits } from './connect'
import { problemOf, RESULT_STREAM, resultSubject, unpackDelivery, unreadSubject, VERSION_HEADER } from './messages'
import { removeStored, stored as storedOn } from './stored'

/** Results that one request takes, and bytes of them that are held before they are written. */
const COLLECTED_AT_ONCE = 256
const HELD_BYTES = 2 ** 23

/** Results that could not be read before and are looked at again at once. */
const UNREAD_AT_ONCE = 32

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

export interface CollectOptions {
  history: Pick<History, 'addNewResults'>
  client: string
  line: FleetLine
  limits: LineLimits
  /** After each result that is new in the history. */
  stored?: (session: string, resultId: string) => void
  warn?: (message: string) => void
  /** Tells, once for each of its kind, of results that this version cannot read, or not all of. Default: `warn`. */
  newer?: (message: string) => void
  signal: AbortSignal
  /** Ends when the server has no more of them, or does not answer. */
  untilEmpty?: boolean
}

const versionIn = (sent: MsgHdrs | undefined) => sent?.get(VERSION_HEADER).slice(0, 100) || undefined

/** A result as it came. */
interface Message {
  data: Uint8Array
  /** Of the agent that measured it, where it said so. */
  version: string | undefined
  /** Has the server forget it. */
  done(): Promise<unknown> | undefined
  /** It was set aside before. */
  wasUnread?: boolean
}

/**
 * Takes results into the history until the signal aborts. A result is acknowledged after it is on disk; one that comes again,
 * because the acknowledgement was lost or two agents measured the case, is known by its id and not added twice. A result that this
 * version cannot read is set aside on the server, where each later collection looks at it again.
 */
export async function collect({ history, client, line, limits, stored, warn, newer = warn, signal, untilEmpty }: CollectOptions): Promise<void> {
  const consumerNow = opened(line, limits, async () => {
    await line.jsm.consumers.add(RESULT_STREAM, { durable_name: `collect-${client}`, filter_subject: resultSubject(client), ack_policy: AckPolicy.Explicit, ack_wait: nanos(limits.ackWaitMs), max_ack_pending: 1000 })
    return line.js.consumers.get(RESULT_STREAM, `collect-${client}`)
  })
  const arrived = new Arrived(history, stored, warn, newer, ({ data, version: from = '' }) => {
    const kept = headers()
    kept.set(VERSION_HEADER, from)
    return line.js.publish(unreadSubject(client), data, { headers: kept, timeout: 10_000 })
  })
  let told = ''
  let lookedAgain = false
  while (!signal.aborted) {
    try {
      const consumer = await consumerNow()
      if (!lookedAgain) for await (const messages of storedOn(line, RESULT_STREAM, unreadSubject(client), UNREAD_AT_ONCE)) {
        for (const { data, header, seq } of messages) arrived.take({ data, version: versionIn(header), done: () => removeStored(line, RESULT_STREAM, seq), wasUnread: true })
        await arrived.store()
      }
      lookedAgain = true
      let count = 0
      // What was fetched is stored even when it is to end: it would come again only when its acknowledgement is overdue.
      for await (const message of await consumer.fetch({ max_messages: COLLECTED_AT_ONCE, expires: 1000 })) {
        count += 1
        if (arrived.take({ data: message.data, version: versionIn(message.headers), done: () => void message.ack() })) await arrived.store()
      }
      await arrived.store()
      told = ''
      if (untilEmpty && count === 0) return
    } catch (error) {
      if (signal.aborted) return
      arrived.forget()
      const problem = error instanceof Error ? error.message : String(error)
      if (problem !== told) warn?.(`results could not be taken: ${problem}`)
      told = problem
      if (untilEmpty) return
      await pause(1000)
    }
  }
}

/** Results that have come and are not stored yet: so many are written to the disk at once. */
class Arrived {
  readonly #held = new Map<string, { message: Message; result: Result }[]>()
  #unread: Message[] = []
  #done: Message[] = []
  #bytes = 0
  /** What was told of results of other versions. */
  readonly #told = new Set<string>()

  constructor(
    private readonly history: CollectOptions['history'],
    private readonly stored: CollectOptions['stored'],
    private readonly warn: CollectOptions['warn'],
    private readonly newer: CollectOptions['newer'],
    private readonly setAside: (message: Message) => Promise<unknown>,
  ) {}

  /** Returns whether so much is held that it should be stored. */
  take(message: Message): boolean {
    try {
      const arrival = unpackDelivery(message.data)
      if (arrival.kind === 'unread') {
        this.#tell('unread', message, arrival.host, (from) => `results of ${from} cannot be read by this version of Opscope (${version}): ${arrival.problem}. They stay on the NATS server. Update Opscope here, then collect again`)
        if (!message.wasUnread) this.#unread.push(message)
        return false
      }
      const { delivery: { session, host, result }, unknown } = arrival
      if (unknown.length > 0) this.#tell('unknown', message, host, (from) => `results of ${from} are stored without what this version of Opscope (${version}) does not have: ${unknown.join(', ').slice(0, 200)}`)
      const held = this.#held.get(session) ?? []
      this.#held.set(session, held)
      held.push({ message, result: { ...result, case: { ...result.case, device: deviceOn(host, result.case.device) } } })
    } catch (error) {
      this.warn?.(`a message that is no result was dropped: ${problemOf(error)}`)
      this.#done.push(message)
    }
    this.#bytes += message.data.length
    return this.#bytes > HELD_BYTES
  }

  /** A fleet may have many agents of one version: the first of them is named. */
  #tell(what: 'unread' | 'unknown', { version: from = 'of another version' }: Message, host: string | undefined, words: (from: string) => string): void {
    if (this.#told.has(`${what} ${from}`)) return
    this.#told.add(`${what} ${from}`)
    this.newer?.(words(`${host ?? 'an agent'} (Opscope ${from})`))
  }

  /** Writes what is held, then acknowledges it. Throws where the history cannot be written or the server is away. */
  async store(): Promise<void> {
    for (const [session, held] of this.#held) {
      try {
        for (const id of this.history.addNewResults(session, held.map(({ result }) => result))) this.stored?.(session, id)
      } catch (error) {
        if (!(error instanceof NotFoundError)) throw error
        this.warn?.(`${held.length === 1 ? 'a result' : `${held.length} results`} of session ${session}, which is not in this history any more, ${held.length === 1 ? 'was' : 'were'} dropped`)
      }
      for (const { message } of held) this.#done.push(message)
      this.#held.delete(session)
    }
    await Promise.all(this.#unread.map(this.setAside))
    await Promise.all([...this.#done, ...this.#unread].map(async (message) => message.done()))
    this.forget()
  }

  /** They are not acknowledged and come again. */
  forget(): void {
    this.#held.clear()
    this.#unread = []
    this.#done = []
    this.#bytes = 0
  }
}
