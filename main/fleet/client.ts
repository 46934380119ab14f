import { randomInt, randomUUID } from 'node:crypto'
import { createInbox } from '@nats-io/transport-node'
import { placeOf, remoteDevice } from '@core/fleet/place'
import type { Device } from '@core/backend'
import type { BenchmarkCase } from '@core/case'
import type { MeasureSettings } from '@core/measure/settings'
import type { FleetLine } from './connect'
import { ALL_PRESENCE, ASK_SUBJECT, CANCEL_SUBJECT, DRAIN_SUBJECT, laneOf, modelLane, offerSchema, pack, presenceSchema, unpack, WORK_STREAM, workSubject, type Offer, type Ordered, type Presence, type Work } from './messages'
import type { Removed } from './stored'

/** How long agents have to answer a question, in ms. */
const ANSWER_MS = 3000

/** How long a case is tried to be queued while the server is away, and pauses between, in ms. */
const QUEUE_MS = 60_000
const RETRY_MS = 1000

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
  cases: Iterable<BenchmarkCase>
  settings: MeasureSettings
  repeats: number
  secondsOf(c: BenchmarkCase): number
  devices: readonly Device[]
  /** Work whose agent goes away may be done by another device of the same model and driver. */
  anyOfModel: boolean
  /** How long a case is tried, and pauses between, in ms. Tests shorten them. */
  patienceMs?: number
  retryMs?: number
}

/** Not all of a sweep could be queued. */
export class QueueError extends Error {
  override name = 'QueueError'
  constructor(
    /** Cases that are queued and will be measured. */
    readonly queued: number,
    reason: string,
  ) {
    super(reason)
  }
}

/** Puts a sweep into the queue: one message for each case, made as it goes. Throws QueueError where the server takes no more. */
export async function submit({ js }: Pick<FleetLine, 'js'>, { client, session, cases, settings, repeats, secondsOf, devices, anyOfModel, patienceMs = QUEUE_MS, retryMs = RETRY_MS }: Submission): Promise<void> {
  const sampleSeed = randomInt(2 ** 32)
  const byId = new Map(devices.map((device) => [`${device.backend} ${device.id}`, device]))
  const seen = new Map<string, number>()
  const repeatOf = (c: BenchmarkCase) => {
    const key = JSON.stringify(c)
    const run = seen.get(key) ?? 0
    seen.set(key, run + 1)
    return run
  }
  let queued = 0
  let waiting: Promise<void>[] = []
  /** The id of the work keeps a repetition from being queued twice. */
  const queue = async (subject: string, work: Work) => {
    const bytes = pack(work)
    for (const begun = performance.now(); ; await pause(retryMs)) {
      try {
        await js.publish(subject, bytes, { msgID: work.resultId, timeout: 10_000 })
        queued += 1
        return
      } catch (error) {
        if (performance.now() - begun >= patienceMs) throw error
      }
    }
  }
  const settle = async () => {
    const failed = (await Promise.allSettled(waiting)).find((one) => one.status === 'rejected')
    if (failed) throw new QueueError(queued, failed.reason instanceof Error ? failed.reason.message : String(failed.reason))
    waiting = []
  }
  for (const c of cases) {
    const { host, device } = placeOf(c.device)
    const known = byId.get(`${c.backend} ${c.device}`)
    if (host === undefined || !known) throw new Error(`${c.device} is not a device of the fleet`)
    const lane = anyOfModel ? modelLane(c.backend, known.name, known.driver) : laneOf(host, c.backend, device)
    const run = repeats > 1 ? repeatOf(c) : undefined
    const work: Work = { version: 1, client, session, resultId: randomUUID(), case: { ...c, device }, settings, sampleSeed, expectedSeconds: Math.max(0.001, secondsOf(c)), ...(run === undefined ? {} : { run }) }
    waiting.push(queue(workSubject(lane), work))
    if (waiting.length >= PUBLISHED_AT_ONCE) await settle()
  }
  await settle()
}

/** Puts work back into the queue as it was taken out of it. What could be queued is removed from the list; throws where the server takes no more. */
export async function requeue({ js }: Pick<FleetLine, 'js'>, removed: Removed[]): Promise<void> {
  // The ids of the work are remembered by the server: under them it would take this for a repetition.
  const again = randomUUID()
  while (removed.length > 0) {
    const part = removed.slice(-PUBLISHED_AT_ONCE)
    await Promise.all(part.map(({ subject, data, seq }) => js.publish(subject, data, { msgID: `${again} ${seq}`, timeout: 10_000 })))
    removed.length -= part.length
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

/** Has agents stop the case that they measure of a session. Its work is not in the queue any more, so nobody measures it later. */
export async function stopCases({ nc }: Pick<FleetLine, 'nc'>, session: Ordered): Promise<void> {
  nc.publish(CANCEL_SUBJECT, pack({ version: 1, ...session }))
  await nc.flush()
}
