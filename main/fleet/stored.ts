import { JetStreamApiError, type NextMsgRequest, type SeqMsgRequest, type StoredMsg } from '@nats-io/jetstream'
import type { FleetLine } from './connect'
import { ALL_WORK, orderedSchema, unpack, WORK_STREAM, type Ordered } from './messages'

/** Messages of the queue that are looked at and removed at once. */
const WORK_AT_ONCE = 256

/**
 * What a stream holds on a subject (`a.b`, or `a.>`), in order and so many at once; nothing is taken. Messages that are queued
 * or removed meanwhile may be among them or not.
 */
export async function* stored({ jsm }: Pick<FleetLine, 'jsm'>, stream: string, subject: string, atOnce: number): AsyncGenerator<StoredMsg[]> {
  const isOn = (message: StoredMsg) => (subject.endsWith('>') ? message.subject.startsWith(subject.slice(0, -1)) : message.subject === subject)
  // Sequence numbers have gaps where messages were acknowledged: each part begins with the next message that is there.
  for (let from = 1; ; ) {
    const next: SeqMsgRequest & NextMsgRequest = { seq: from, next_by_subj: subject }
    const first = await jsm.streams.getMessage(stream, next)
    if (!first) return
    const others = await Promise.all(Array.from({ length: atOnce - 1 }, (_, i) => jsm.streams.getMessage(stream, { seq: first.seq + 1 + i })))
    yield [first, ...others.filter((message) => message !== null).filter(isOn)]
    from = first.seq + atOnce
  }
}

/** Removes a message; false where it was not there any more. */
export async function removeStored({ jsm }: Pick<FleetLine, 'jsm'>, stream: string, seq: number): Promise<boolean> {
  try {
    return await jsm.streams.deleteMessage(stream, seq, false)
  } catch (error) {
    if (error instanceof JetStreamApiError && (await jsm.streams.getMessage(stream, { seq })) === null) return false
    throw error
  }
}

/** Work that was taken out of the queue, as it was there. */
export type Removed = Pick<StoredMsg, 'subject' | 'data' | 'seq'>

/**
 * Takes the work of a session out of the queue, that of agents that are away and that which is being measured included, and adds
 * it to `removed` as it goes. Each message is removed by itself: a purge leaves nats-server 2.9 waiting for ever for the
 * acknowledgement of one that an agent had taken before it died, and the device then gets no work.
 */
export async function removeWork(line: Pick<FleetLine, 'jsm'>, { client, session }: Ordered, removed: Removed[]): Promise<void> {
  const isOfSession = ({ data }: StoredMsg) => {
    try {
      const work = unpack(orderedSchema, data)
      return work.client === client && work.session === session
    } catch {
      // Not work; the agent that takes it drops it.
      return false
    }
  }
  for await (const messages of stored(line, WORK_STREAM, ALL_WORK, WORK_AT_ONCE)) {
    await Promise.all(messages.filter(isOfSession).map(async ({ subject, data, seq }) => {
      if (await removeStored(line, WORK_STREAM, seq)) removed.push({ subject, data, seq })
    }))
  }
}
