import { expect, test } from 'vitest'
import { PRESETS } from '@core/measure/settings'
import { testSession } from '@core/testing'
import { aCase, ScriptedKind } from '../runner/testing'
import { FleetAgent } from './agent'
import { LIMITS, type FleetLine } from './connect'
import { CANCEL_SUBJECT, deliverySchema, laneOf, pack, resultSubject, unpack, type Work } from './messages'

/** The server of one agent: work by lane, and what the agent says. */
class Server {
  readonly queues = new Map<string, { resultId: string; data: Uint8Array }[]>()
  readonly taken: string[] = []
  readonly naks: string[] = []
  readonly results: string[] = []
  readonly #heard = new Map<string, (error: Error | null, message: { data: Uint8Array }) => void>()

  add(lane: string, work: Pick<Work, 'resultId' | 'session' | 'case'>): void {
    const whole: Work = { version: 1, client: 'me', settings: PRESETS.quick, sampleSeed: 1, expectedSeconds: 1, ...work }
    this.queues.set(lane, [...(this.queues.get(lane) ?? []), { resultId: work.resultId, data: pack(whole) }])
  }

  tell(subject: string, message: unknown): void {
    this.#heard.get(subject)?.(null, { data: pack(message) })
  }

  async #next(lane: string): Promise<unknown> {
    const work = this.queues.get(lane)?.shift()
    if (!work) {
      await new Promise((later) => setTimeout(later, 5))
      return null
    }
    this.taken.push(work.resultId)
    return { data: work.data, info: { deliveryCount: 1 }, working: () => undefined, nak: () => void this.naks.push(work.resultId), ackAck: () => Promise.resolve(true) }
  }

  readonly line = {
    reconnects: () => 0,
    nc: {
      request: () => Promise.reject(new Error('no responders')), publish: () => undefined, flush: () => Promise.resolve(), isClosed: () => false,
      subscribe: (subject: string, { callback }: { callback: (error: Error | null, message: { data: Uint8Array }) => void }) => (this.#heard.set(subject, callback), { unsubscribe: () => void this.#heard.delete(subject) }),
    },
    jsm: { consumers: { add: () => Promise.resolve() } },
    js: {
      publish: (subject: string, data: Uint8Array) => (subject === resultSubject('me') && this.results.push(unpack(deliverySchema, data).result.id), Promise.resolve({})),
      consumers: { get: (_stream: string, lane: string) => Promise.resolve({ next: () => this.#next(lane) }) },
    },
  } as unknown as FleetLine
}

test('a cancelled session loses the case that is measured and the one that waits for its turn; other work goes on, and neither counts as measured', async () => {
  const server = new Server()
  const OTHER = 900
  // Cases of the cancelled session take until they are stopped.
  const kinds = ['one', 'two'].map((id) => new ScriptedKind(id, ({ params }) => (Number(params['n']) < OTHER ? 'cancellable' : 'measure')))
  for (const [i, { id }] of kinds.entries()) {
    server.add(laneOf('n1', id, id), { resultId: `mine-${id}`, session: 'mine', case: aCase(64 + i, id) })
    server.add(laneOf('n1', id, id), { resultId: `other-${id}`, session: 'other', case: aCase(OTHER + i, id) })
  }
  const { devices: _devices, ...facts } = testSession().environment
  const agent = new FleetAgent({ host: 'n1', facts, kinds, line: server.line, limits: LIMITS, gpus: 'in-turn' })
  const ran = agent.run()
  const requests = () => kinds.flatMap(({ measured }) => measured).length
  // One device after the other: the second case waits for the first.
  await expect.poll(() => [[...server.taken].sort(), requests()]).toEqual([['mine-one', 'mine-two'], 1])
  server.tell(CANCEL_SUBJECT, { version: 1, client: 'me', session: 'another' })
  server.tell(CANCEL_SUBJECT, { version: 1, client: 'somebody', session: 'mine' })
  server.tell(CANCEL_SUBJECT, 'all of it')
  expect(server.naks).toEqual([])
  server.tell(CANCEL_SUBJECT, { version: 1, client: 'me', session: 'mine' })
  await expect.poll(() => [...server.results].sort()).toEqual(['other-one', 'other-two'])
  expect([[...server.naks].sort(), requests()]).toEqual([['mine-one', 'mine-two'], 3])
  agent.drain()
  expect(await ran).toBe(2)
})
