import { randomInt, randomUUID } from 'node:crypto'
import { AckPolicy } from '@nats-io/jetstream'
import { createInbox, nanos } from '@nats-io/transport-node'
import { deviceOn, placeOf, remoteDevice } from '@core/fleet/place'
import type { Device } from '@core/backend'
import type { BenchmarkCase } from '@core/case'
import type { MeasureSettings } from '@core/measure/settings'
import type { History } from '../history/types'
import { NotFoundError } from '../history/types'
import type { FleetLine, LineLimits } from './connect'
import { ALL_PRESENCE, ASK_SUBJECT, deliverySchema, DRAIN_SUBJECT, laneOf, modelLane, offerSchema, pack, presenceSchema, RESULT_STREAM, resultSubject, unpack, WORK_STREAM, workSubject, type Offer, type Presence, type Work } from './messages'

/** How long agents have to answer a question, in ms. */
const ANSWER_MS = 3000

/** Messages that are published before their acknowledgements are awaited. */
const PUBLISHED_AT_ONCE = 256

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

/** The agents that answer, with their devices; the fleet is as large as it is when it is asked. */
export async function offers({ nc }: Pick<FleetLine, 'nc'>, waitMs = ANSWER_MS): Promise<Offer[]> {
  const found = new Map<string, Offer>()
  const inbox = createInbox()
  const answers = nc.subscribe(inbox, {
    callback: (error, message) => {
      try {
        if (error) return
        const offer = unpack(offerSchema, message.data)
        found.set(offer.host, offer)
      } catch {
        // Of another version, or nobody is there to answer.
      }
    },
  })
  nc.publish(ASK_SUBJECT, undefined, { reply: inbox })
  await pause(waitMs)
  answers.unsubscribe()
  return [...found.values()]
}

/** The devices of a fleet, called as everywhere: `node7/cuda:0`. */
export const devicesOf = (found: readonly Offer[]): Device[] => found.flatMap(({ host, devices }) => devices.map((device) => remoteDevice(host, device)))

export interface Submission {
  client: string
  session: string
  /** With devices of the fleet (`node7/cuda:0`); a case comes once for each of its repeats. */
  cases: readonly BenchmarkCase[]
  settings: MeasureSettings
  repeats: number
  secondsOf(c: BenchmarkCase): number
  devices: readonly Device[]
  /** Work whose agent goes away may be done by another device of the same model and driver. */
  anyOfModel: boolean
}

/** Puts a sweep into the queue: one message for each case. Safe to call again with the same ids where it failed. */
export async function submit({ js }: Pick<FleetLine, 'js'>, { client, session, cases, settings, repeats, secondsOf, devices, anyOfModel }: Submission, ids: readonly string[] = cases.map(() => randomUUID())): Promise<void> {
  const sampleSeed = randomInt(2 ** 32)
  const byId = new Map(devices.map((device) => [`${device.backend} ${device.id}`, device]))
  const seen = new Map<string, number>()
  let waiting: Promise<unknown>[] = []
  for (const [i, c] of cases.entries()) {
    const { host, device } = placeOf(c.device)
    const known = byId.get(`${c.backend} ${c.device}`)
    if (host === undefined || !known) throw new Error(`${c.device} is not a device of the fleet`)
    const lane = anyOfModel ? modelLane(c.backend, known.name, known.driver) : laneOf(host, c.backend, device)
    const key = JSON.stringify(c)
    const run = seen.get(key) ?? 0
    seen.set(key, run + 1)
    const work: Work = { version: 1, client, session, resultId: ids[i]!, case: { ...c, device }, settings, sampleSeed, expectedSeconds: Math.max(0.001, secondsOf(c)), ...(repeats > 1 ? { run } : {}) }
    waiting.push(js.publish(workSubject(lane), pack(work), { msgID: work.resultId, timeout: 10_000 }))
    if (waiting.length >= PUBLISHED_AT_ONCE) {
      await Promise.all(waiting)
      waiting = []
    }
  }
  await Promise.all(waiting)
}

export interface CollectOptions {
  history: Pick<History, 'addResult' | 'result'>
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
  await line.jsm.consumers.add(RESULT_STREAM, { durable_name: `collect-${client}`, filter_subject: resultSubject(client), ack_policy: AckPolicy.Explicit, ack_wait: nanos(limits.ackWaitMs), max_ack_pending: 1000 })
  const consumer = await line.js.consumers.get(RESULT_STREAM, `collect-${client}`)
  while (!signal.aborted) {
    try {
      const batch = await consumer.fetch({ max_messages: 100, expires: 1000 })
      for await (const message of batch) {
        if (signal.aborted) return
        let delivery
        try {
          delivery = unpack(deliverySchema, message.data)
        } catch (error) {
          warn?.(`a message that is no result was dropped: ${error instanceof Error ? error.message.slice(0, 300) : String(error)}`)
          message.term()
          continue
        }
        const { session, host, result } = delivery
        if (!has(history, result.id)) {
          try {
            history.addResult(session, { ...result, case: { ...result.case, device: deviceOn(host, result.case.device) } })
            stored?.(session, result.id)
          } catch (error) {
            if (!(error instanceof NotFoundError)) throw error
            warn?.(`a result of session ${session}, which is not in this history any more, was dropped`)
          }
        }
        message.ack()
      }
    } catch (error) {
      if (signal.aborted) return
      warn?.(`results could not be taken: ${error instanceof Error ? error.message : String(error)}`)
      await pause(1000)
    }
  }
}

function has(history: Pick<History, 'result'>, id: string): boolean {
  try {
    history.result(id)
    return true
  } catch (error) {
    if (error instanceof NotFoundError) return false
    throw error
  }
}

/** What agents tell within a while, by host; the last word of each. */
export async function presences({ nc }: Pick<FleetLine, 'nc'>, waitMs: number): Promise<Map<string, Presence>> {
  const heard = new Map<string, Presence>()
  const subscription = nc.subscribe(ALL_PRESENCE, {
    callback: (_error, message) => {
      try {
        const presence = unpack(presenceSchema, message.data)
        heard.set(presence.host, presence)
      } catch {
        // Of another version.
      }
    },
  })
  await pause(waitMs)
  subscription.unsubscribe()
  return heard
}

/** Work that waits or is being measured, by lane. */
export async function queues({ jsm }: Pick<FleetLine, 'jsm'>): Promise<{ lane: string; waiting: number; measuring: number }[]> {
  const found = []
  for await (const { name, num_pending, num_ack_pending } of jsm.consumers.list(WORK_STREAM)) found.push({ lane: name, waiting: num_pending, measuring: num_ack_pending })
  return found
}

/** Asks agents to take no more work: all, or that of one machine. */
export async function drain({ nc }: Pick<FleetLine, 'nc'>, host?: string): Promise<void> {
  nc.publish(DRAIN_SUBJECT, pack({ version: 1, ...(host === undefined ? {} : { host }) }))
  await nc.flush()
}
