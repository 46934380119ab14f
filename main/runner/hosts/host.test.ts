import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { PRESETS } from '@core/measure/settings'
import type { HostLink, ToHost } from '@core/measure/protocol'
import { Host, type MeasureRequest } from './host'
import { aCase, aDevice, aResult } from '../testing'
import type { HostKind } from '../types'

const LIMITS = { silenceMs: 1000, cancelMs: 100, devicesMs: 1000, eventMs: 10, retryMs: 10, startAttempts: 1 }
const request: MeasureRequest = { case: aCase(8), settings: PRESETS.quick, resultId: 'r', expectedSeconds: 0, keep: false }

beforeEach(() => void vi.useFakeTimers())
afterEach(() => {
  vi.restoreAllMocks()
  vi.useRealTimers()
})

/** How many of the intervals that begin from now on still run. All timers are not counted: the test runner's own messages may leave some on the fake clock. */
function openIntervals(): () => number {
  const begun = vi.spyOn(globalThis, 'setInterval')
  const ended = vi.spyOn(globalThis, 'clearInterval')
  return () => {
    const cleared = new Set(ended.mock.calls.map(([timer]) => timer))
    return begun.mock.results.filter(({ value }) => !cleared.has(value)).length
  }
}

/** A host whose start takes until `begin` is called, and that answers each message after 100 ms. Notes what it was asked while another question was open. */
function slowKind() {
  const started = Promise.withResolvers<undefined>()
  const asked: string[] = []
  let open = 0
  let overlaps = 0
  let say: (message: unknown) => void = () => undefined
  const link: HostLink = {
    send(message: ToHost) {
      if (message.type === 'cancel') return
      asked.push(message.type)
      if (open++ > 0) overlaps += 1
      setTimeout(() => {
        open -= 1
        say(message.type === 'devices' ? { type: 'devices', id: message.id, devices: [aDevice('cpu')] } : { type: 'result', id: message.id, result: aResult(message.resultId, message.case) })
      }, 100)
    },
    onMessage: (listener) => (say = listener),
    onExit: () => undefined,
    kill: () => undefined,
  }
  const kind: HostKind = { id: 'slow', backends: ['cpu'], start: () => started.promise.then(() => link) }
  return { kind, asked, overlaps: () => overlaps, begin: () => started.resolve(undefined) }
}

test('what is asked while a host starts is answered one after the other, and no watchdog is left behind', async () => {
  const watchdogs = openIntervals()
  const slow = slowKind()
  const host = new Host(slow.kind, LIMITS)
  const answers = Promise.all([host.devices(), host.measure(request, () => undefined), host.devices()])
  slow.begin()
  await vi.advanceTimersByTimeAsync(500)
  const [first, measured, last] = await answers
  expect([first, last].map((devices) => devices.map(({ id }) => id))).toEqual([['cpu'], ['cpu']])
  expect(measured).toMatchObject({ kind: 'result', result: { id: 'r' } })
  expect(slow.asked).toEqual(['devices', 'measure', 'devices'])
  expect(slow.overlaps()).toBe(0)
  expect(setInterval).toHaveBeenCalledTimes(3)
  expect(watchdogs()).toBe(0)
})

test('a measurement that waits for its turn is cancelled at once and never asked for', async () => {
  const slow = slowKind()
  const host = new Host(slow.kind, LIMITS)
  slow.begin()
  const listed = host.devices()
  const measured = host.measure(request, () => undefined)
  await vi.advanceTimersByTimeAsync(50)
  host.cancel()
  expect(await measured).toEqual({ kind: 'cancelled' })
  await vi.advanceTimersByTimeAsync(500)
  expect(await listed).toHaveLength(1)
  expect(slow.asked).toEqual(['devices'])
})

test('a link that takes no message ends the exchange, not the caller', async () => {
  const watchdogs = openIntervals()
  const broken: HostLink = {
    send() {
      throw new Error('the channel is closed')
    },
    onMessage: () => undefined,
    onExit: () => undefined,
    kill: () => undefined,
  }
  const host = new Host({ id: 'broken', backends: ['cpu'], start: () => Promise.resolve(broken) }, LIMITS)
  expect(await host.measure(request, () => undefined)).toEqual({ kind: 'gone', reason: 'the channel is closed' })
  expect(setInterval).toHaveBeenCalledTimes(1)
  expect(watchdogs()).toBe(0)
})
