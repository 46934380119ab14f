import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { PRESETS } from '@core/measure/settings'
import { testCase, testDevice, testResult, testSession } from '@core/testing'
import { remoteDevice } from '@core/fleet/place'
import { openHistory } from '../history'
import { QueueError, submit, type Submission } from './client'
import { collect } from './collect'
import { LIMITS, type FleetLine } from './connect'
import { clientOf, gather } from './gather'
import { pack } from './messages'

const folder = () => mkdtempSync(join(tmpdir(), 'opscope-fleet-'))
const device = remoteDevice('n1', testDevice())
const cases = [64, 65, 66].map((n) => testCase({ params: { n }, device: device.id }))
const order: Submission = { client: 'me', session: 's', cases, settings: PRESETS.quick, repeats: 1, secondsOf: () => 1, devices: [device], anyOfModel: false, patienceMs: 60_000, retryMs: 1 }

/** A server that takes a message at the attempt that `takes` says, and the ids that it took. */
function server(takes: (id: string, attempt: number) => boolean) {
  const attempts = new Map<string, number>()
  const taken: string[] = []
  const publish = (_subject: string, _bytes: Uint8Array, { msgID }: { msgID: string }) => {
    const attempt = (attempts.get(msgID) ?? 0) + 1
    attempts.set(msgID, attempt)
    if (!takes(msgID, attempt)) return Promise.reject(new Error('no responders'))
    taken.push(msgID)
    return Promise.resolve({})
  }
  return { line: { js: { publish } } as unknown as Pick<FleetLine, 'js'>, taken, attempts }
}

test('a sweep is queued through a server that is away for a while, each case under one id', async () => {
  const { line, taken, attempts } = server((_id, attempt) => attempt > 2)
  await submit(line, order)
  expect(new Set(taken).size).toBe(3)
  expect([...attempts.values()]).toEqual([3, 3, 3])
})

test('a server that takes no more says how many cases are queued', async () => {
  const ids = new Set<string>()
  const { line } = server((id) => ids.add(id).size <= 2 && [...ids].indexOf(id) < 2)
  const failed = await submit(line, { ...order, patienceMs: 200 }).catch((error: unknown) => error)
  expect(failed).toBeInstanceOf(QueueError)
  expect(failed).toMatchObject({ queued: 2, message: 'no responders' })
})

test('results are for a name that a data folder keeps, however it is called, and no other folder has', () => {
  const [one, other] = [folder(), folder()]
  const name = clientOf(one)
  expect(name).toMatch(/^[\w-]{16,64}$/)
  expect([clientOf(one), clientOf(join(one, '.'))]).toEqual([name, name])
  expect(clientOf(other)).not.toBe(name)
  // Written half when the disk was full: a new one is made.
  writeFileSync(join(one, 'fleet-client'), name.slice(0, 5))
  expect(clientOf(one)).not.toBe(name)
  expect(readFileSync(join(one, 'fleet-client'), 'utf8')).toBe(clientOf(one))
})

test('a session whose results another process of the data folder takes is not waited for', async () => {
  const { history } = openHistory(join(folder(), 'history.sqlite'))
  const { id } = history.createSession({ name: 'x', about: { kind: 'fleet' }, environment: testSession([]).environment, settings: PRESETS.quick, cases })
  const nothing = { fetch: async () => (await new Promise((later) => setTimeout(later, 20)), []) }
  const line = { reconnects: () => 0, jsm: { consumers: { add: () => Promise.resolve() }, streams: { getMessage: () => Promise.resolve(null) } }, js: { consumers: { get: () => Promise.resolve(nothing) } } } as unknown as FleetLine
  const finished: string[] = []
  const gathered = gather({ history, folder: folder(), line, limits: LIMITS, sessions: [id], signal: new AbortController().signal, finished: (one) => finished.push(one), lookMs: 10 })
  history.addNewResults(id, cases.map((c, i) => testResult({ id: `r${i}`, case: c })))
  expect(await gathered).toBe(0)
  expect(finished).toEqual([id])
  expect(history.summary(id).state).toBe('done')
  history.close()
})

test('what was fetched when collecting ends is stored and acknowledged all the same', async () => {
  const { history } = openHistory(join(folder(), 'history.sqlite'))
  const { id } = history.createSession({ name: 'x', about: { kind: 'fleet' }, environment: testSession([]).environment, settings: PRESETS.quick, cases })
  const stop = new AbortController()
  let acknowledged = 0
  async function* fetched() {
    for (const [i, c] of cases.entries()) {
      if (i === 1) stop.abort()
      await Promise.resolve()
      yield { data: pack({ version: 1, session: id, host: 'n1', result: testResult({ id: `r${i}`, case: { ...c, device: 'cpu' } }) }), ack: () => (acknowledged += 1) }
    }
  }
  const line = { reconnects: () => 0, jsm: { consumers: { add: () => Promise.resolve() }, streams: { getMessage: () => Promise.resolve(null) } }, js: { consumers: { get: () => Promise.resolve({ fetch: () => Promise.resolve(fetched()) }) } } } as unknown as FleetLine
  await collect({ history, client: 'me', line, limits: LIMITS, signal: stop.signal })
  expect([history.summary(id).results, acknowledged]).toEqual([3, 3])
  history.close()
})
