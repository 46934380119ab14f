import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { headers, type MsgHdrs } from '@nats-io/transport-node'
import { expect, test } from 'vitest'
import { PRESETS } from '@core/measure/settings'
import { testCase, testDevice, testResult, testSession } from '@core/testing'
import { remoteDevice } from '@core/fleet/place'
import { openHistory } from '../history'
import type { History } from '../history/types'
import { submit } from './client'
import { LIMITS, type FleetLine } from './connect'
import { clientOf, gather, unfinished } from './gather'
import { CANCEL_SUBJECT, cancelSchema, pack, resultSubject, unpack, unreadSubject, VERSION_HEADER } from './messages'
import { stored, type Removed } from './stored'
import { cancelSession, restoreSession } from './sweep'

interface Kept {
  seq: number
  subject: string
  data: Uint8Array
  headers: MsgHdrs
}

/** The streams of a fleet as its server keeps them, one after the other in one sequence; `lost`: no request is answered. */
class Server {
  readonly messages = new Map<number, Kept>()
  readonly told: { subject: string; data: Uint8Array }[] = []
  readonly #ids = new Set<string>()
  #last = 0
  #most = Infinity
  fetched = resultSubject('none')
  /** Gives no results. */
  isAway = false

  add(subject: string, data: Uint8Array, version = ''): void {
    const sent = headers()
    if (version) sent.set(VERSION_HEADER, version)
    this.messages.set((this.#last += 1), { seq: this.#last, subject, data, headers: sent })
  }

  /** Answers so many requests to remove a message, then none. */
  losesAfter(removals: number): void {
    this.#most = removals
  }

  of = (subject: string) => [...this.messages.values()].filter((message) => message.subject.startsWith(subject))

  readonly line = {
    reconnects: () => 0,
    nc: { publish: (subject: string, data: Uint8Array) => void this.told.push({ subject, data }), flush: () => Promise.resolve() },
    js: {
      publish: (subject: string, data: Uint8Array, { msgID, headers: sent }: { msgID?: string; headers?: MsgHdrs }) => {
        if (msgID === undefined || !this.#ids.has(msgID)) this.add(subject, data, sent?.get(VERSION_HEADER))
        if (msgID !== undefined) this.#ids.add(msgID)
        return Promise.resolve({})
      },
      consumers: { get: () => Promise.resolve({ fetch: () => this.isAway ? Promise.reject(new Error('timeout')) : Promise.resolve(this.of(this.fetched).filter(({ subject }) => subject === this.fetched).map((message) => ({ ...message, ack: () => this.messages.delete(message.seq) }))) }) },
    },
    jsm: {
      consumers: { add: () => Promise.resolve() },
      streams: {
        getMessage: (_stream: string, { seq, next_by_subj: next }: { seq: number; next_by_subj?: string }) => {
          const found = next === undefined ? this.messages.get(seq) : [...this.messages.values()].find((message) => message.seq >= seq && (message.subject === next || (next.endsWith('>') && message.subject.startsWith(next.slice(0, -1)))))
          return Promise.resolve(found ? { ...found, header: found.headers } : null)
        },
        deleteMessage: (_stream: string, seq: number) => {
          if (this.#most <= 0) return Promise.reject(new Error('connection lost'))
          this.#most -= 1
          return Promise.resolve(this.messages.delete(seq))
        },
      },
    },
  } as unknown as FleetLine
}

const devices = ['n1', 'n2'].map((host) => remoteDevice(host, testDevice()))
const casesOf = (count: number) => Array.from({ length: count }, (_, i) => testCase({ params: { n: 64 + i }, device: devices[i % devices.length]!.id }))
const folderOf = () => mkdtempSync(join(tmpdir(), 'opscope-fleet-'))
const historyIn = (folder: string) => openHistory(join(folder, 'history.sqlite')).history

/** A session that is queued, as `opscope fleet run --detach` leaves it. */
async function queued(server: Server, history: History, folder: string, name: string, count: number): Promise<string> {
  const cases = casesOf(count)
  const { id } = history.createSession({ name, about: { kind: 'fleet' }, environment: testSession([]).environment, settings: PRESETS.quick, cases })
  await submit(server.line, { client: clientOf(folder), session: id, cases, settings: PRESETS.quick, repeats: 1, secondsOf: () => 1, devices, anyOfModel: false })
  history.setState(id, 'stopped')
  return id
}

test('cancelling takes the cases of one session out of the queue, of all devices, and undo puts back the same work', async () => {
  const [server, folder] = [new Server(), folderOf()]
  const history = historyIn(folder)
  const other = await queued(server, history, folder, 'Other', 300)
  server.add('opscope.work.junk', new Uint8Array([1, 2, 3]))
  const id = await queued(server, history, folder, 'Mine', 600)
  // What was measured is not in the queue any more; the rest of both sessions is, with gaps.
  for (const { seq } of server.of('opscope.work').slice(0, 290)) server.messages.delete(seq)
  const before = server.of('opscope.work').map(({ subject, data }) => [subject, Buffer.from(data).toString('hex')].join(' ')).sort()
  const removed: Removed[] = []
  await cancelSession({ line: server.line, folder, history, limits: LIMITS, id, removed })
  expect(removed).toHaveLength(600)
  expect(server.of('opscope.work')).toHaveLength(11)
  expect(server.told.map(({ subject, data }) => [subject, unpack(cancelSchema, data)])).toEqual([[CANCEL_SUBJECT, { version: 1, client: clientOf(folder), session: id }]])
  expect(history.summary(id)).toMatchObject({ state: 'cancelled', results: 0, planned: 600 })
  expect(unfinished(history).map((session) => session.id)).toEqual([other])

  await restoreSession({ line: server.line, history, id, removed })
  expect(removed).toEqual([])
  expect(server.of('opscope.work').map(({ subject, data }) => [subject, Buffer.from(data).toString('hex')].join(' ')).sort()).toEqual(before)
  expect(unfinished(history).map((session) => session.id).sort()).toEqual([id, other].sort())
  history.close()
})

test('results that were on their way when a session was cancelled are kept, and all of them make it complete', async () => {
  const [server, folder] = [new Server(), folderOf()]
  const history = historyIn(folder)
  server.fetched = resultSubject(clientOf(folder))
  const cancelled = async (results: number) => {
    const id = await queued(server, history, folder, 'Mine', 3)
    const work = server.of('opscope.work').slice(0, results)
    for (const [i, { seq }] of work.entries()) {
      server.messages.delete(seq)
      server.add(server.fetched, pack({ version: 1, session: id, host: 'n1', result: testResult({ id: `${id.slice(0, 8)}-${i}`, case: testCase({ params: { n: 64 + i } }) }) }))
    }
    const removed: Removed[] = []
    await cancelSession({ line: server.line, folder, history, limits: LIMITS, id, removed })
    return [history.summary(id).state, history.summary(id).results, removed.length]
  }
  expect(await cancelled(2)).toEqual(['cancelled', 2, 1])
  expect(await cancelled(3)).toEqual(['done', 3, 0])
  // The server went away once the work was out of the queue.
  server.isAway = true
  expect(await cancelled(2)).toEqual(['cancelled', 0, 1])
  history.close()
})

test('a session is cancelled as a whole: not while it is being queued, and again after the server was lost halfway', async () => {
  const [server, folder] = [new Server(), folderOf()]
  const history = historyIn(folder)
  const id = await queued(server, history, folder, 'Mine', 5)
  const removed: Removed[] = []
  const cancel = () => cancelSession({ line: server.line, folder, history, limits: LIMITS, id, removed })
  history.setState(id, 'running')
  await expect(cancel()).rejects.toThrow('the cases of “Mine” are still being queued; try again once they are')
  history.setState(id, 'stopped')
  server.losesAfter(0)
  await expect(cancel()).rejects.toThrow('nothing was cancelled: the NATS server did not answer: connection lost')
  server.losesAfter(2)
  await expect(cancel()).rejects.toThrow(/^2 cases of “Mine” were taken out of the queue, then the NATS server was lost: connection lost\. Cancel again/)
  expect(unfinished(history).map((session) => session.id)).toEqual([id])
  server.losesAfter(Infinity)
  await cancel()
  expect([removed.length, history.summary(id).state]).toEqual([5, 'cancelled'])
  const local = history.createSession({ name: 'Here', environment: testSession([]).environment, settings: PRESETS.quick, cases: casesOf(1) })
  await expect(cancelSession({ line: server.line, folder, history, limits: LIMITS, id: local.id, removed })).rejects.toThrow('“Here” was not queued for a fleet')
  history.close()
})

test('a session that another process cancels is not waited for any longer', async () => {
  const [server, folder] = [new Server(), folderOf()]
  const history = historyIn(folder)
  const id = await queued(server, history, folder, 'Mine', 3)
  const told: string[] = []
  const line = { ...server.line, js: { ...server.line.js, consumers: { get: () => Promise.resolve({ fetch: async () => (await new Promise((later) => setTimeout(later, 20)), []) }) } } } as unknown as FleetLine
  const gathered = gather({ history, folder, line, limits: LIMITS, sessions: [id], signal: new AbortController().signal, cancelled: (one) => told.push(one), lookMs: 10 })
  history.setState(id, 'cancelled')
  expect([await gathered, told]).toEqual([0, [id]])
  history.close()
})

test('results of a newer agent that cannot be read stay on the server, with one message, until a version that reads them collects', async () => {
  const [server, folder] = [new Server(), folderOf()]
  const history = historyIn(folder)
  const client = clientOf(folder)
  server.fetched = resultSubject(client)
  const id = await queued(server, history, folder, 'Mine', 40)
  const result = (i: number, change: object = {}) => ({ ...testResult({ id: `r${i}`, case: testCase({ params: { n: 64 + i } }) }), ...change })
  const arrives = (message: object) => server.add(server.fetched, pack({ session: id, host: 'n1', ...message }), '9.0.0')
  for (let i = 0; i < 36; i++) arrives({ version: 1, result: result(i, { status: 'postponed' }) })
  arrives({ version: 2, outcome: result(36) })
  arrives({ version: 1, result: result(37, { weather: 'dry' }) })
  server.add(server.fetched, new Uint8Array([1, 2, 3]))
  server.add(server.fetched, pack({ version: 1, command: 'rm -rf /' }))
  const [newer, warned]: [string[], string[]] = [[], []]
  const take = () => gather({ history, folder, line: server.line, limits: LIMITS, sessions: [id], signal: new AbortController().signal, untilEmpty: true, newer: (message) => newer.push(message), warn: (message) => warned.push(message) })
  expect(await take()).toBe(39)
  expect(newer).toEqual([
    expect.stringMatching(/^results of n1 \(Opscope 9\.0\.0\) cannot be read by this version of Opscope \(\d.*\): result\.status: .*expected one of "ok".*\. They stay on the NATS server\. Update Opscope here, then collect again$/),
    expect.stringMatching(/^results of n1 \(Opscope 9\.0\.0\) are stored without what this version of Opscope \(\d.*\) does not have: weather$/),
  ])
  expect(warned.map((text) => text.slice(0, 38))).toEqual(Array(2).fill('a message that is no result was dropped'.slice(0, 38)))
  expect([server.of(server.fetched).filter(({ subject }) => subject === server.fetched).length, server.of(unreadSubject(client)).length]).toEqual([0, 37])

  // The next collection cannot read them either: it says so again and leaves them.
  expect([await take(), newer.length, server.of(unreadSubject(client)).length]).toEqual([39, 3, 37])
  // As a version that reads the status would find them.
  for (const message of server.of(unreadSubject(client)).slice(0, 36)) message.data = pack({ version: 1, session: id, host: 'n1', result: result(message.seq) })
  expect([await take(), server.of(unreadSubject(client)).length]).toEqual([3, 1])
  expect(history.summary(id).results).toBe(37)
  history.close()
})

test('what a stream holds is looked at in order, across gaps and other subjects', async () => {
  const server = new Server()
  for (let i = 0; i < 50; i++) server.add(i % 7 === 0 ? 'a.x' : 'b.x', new Uint8Array([i]))
  for (const seq of [1, 2, 3, 22]) server.messages.delete(seq)
  const seen: number[] = []
  for await (const part of stored(server.line, 'S', 'a.>', 4)) seen.push(...part.map(({ data }) => data[0]!))
  expect(seen).toEqual([7, 14, 28, 35, 42, 49])
  expect((await stored(server.line, 'S', 'c', 4).next()).done).toBe(true)
})
