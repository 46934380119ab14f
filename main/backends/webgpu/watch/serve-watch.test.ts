import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { EnergyMeter } from '@core/backend'
import type { NativeGpuWatch } from '../../native/addon'
import { serveWatch, type Answer } from './serve-watch'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** A page that asks about a card which notes what is done to it, in this state and otherwise as changed. */
function asking(change: Partial<NativeGpuWatch> = {}, state: unknown = { smClockMhz: 1980 }, meter: EnergyMeter | { reason: string } = { reason: 'none' }) {
  const said: Answer[] = []
  const done: string[] = []
  const card: NativeGpuWatch = { begin: (energy) => void done.push(`begin ${energy}`), read: () => void done.push('read'), end: () => (done.push('end'), state), ...change }
  return { said, done, ask: serveWatch(card, (answer) => said.push(answer), () => meter) }
}

it('looks at the card while it works and at no other time', () => {
  const { done, said, ask } = asking()
  vi.advanceTimersByTime(1000)
  ask({ type: 'begin', long: true })
  vi.advanceTimersByTime(50)
  ask({ type: 'end', id: 7 })
  vi.advanceTimersByTime(1000)
  expect(done).toEqual(['begin true', 'read', 'read', 'read', 'end'])
  expect(said).toEqual([{ id: 7, value: { smClockMhz: 1980 } }])
})

it('begins anew where a window was never ended', () => {
  const { done, ask } = asking()
  ask({ type: 'begin', long: false })
  vi.advanceTimersByTime(1)
  ask({ type: 'begin', long: false })
  vi.advanceTimersByTime(2)
  expect(done).toEqual(['begin false', 'begin false', 'read'])
})

const fail = () => {
  throw new Error('the driver is lost')
}
it.each([
  ['fails', asking({ begin: fail, read: fail, end: fail })],
  ['tells nonsense', asking({}, { smClockMhz: 'fast' })],
])('answers with no state where the driver %s', (_what, { said, ask }) => {
  ask({ type: 'begin', long: false })
  vi.advanceTimersByTime(100)
  ask({ type: 'end', id: 3 })
  expect(said).toEqual([{ id: 3, value: {} }])
})

it('passes over what is no question', () => {
  const { done, said, ask } = asking()
  for (const message of [undefined, 'end', { type: 'open', name: 'x', worker: 1 }, { type: 'begin' }, { type: 'begin', long: 1 }, { type: 'end', id: 'x' }]) ask(message)
  expect([said, done]).toEqual([[], []])
})

it('counts the energy of the card between two questions, or says why not', async () => {
  vi.useRealTimers()
  const trace = { source: 'NVML total energy', tickMs: Float64Array.of(10, 110), joules: Float64Array.of(5, 35), powerMs: Float64Array.of(0), watts: Float64Array.of(300) }
  const counting = asking({}, {}, { graphs: false, start: () => Promise.resolve(), stop: () => Promise.resolve(trace) })
  counting.ask({ type: 'energy-start', id: 1 })
  await expect.poll(() => counting.said).toEqual([{ id: 1, value: true }])
  counting.ask({ type: 'begin', long: false })
  counting.ask({ type: 'energy-stop', id: 2 })
  await expect.poll(() => counting.said).toHaveLength(2)
  expect(counting.said[1]).toEqual({ id: 2, value: { source: 'NVML total energy', tickMs: [10, 110], joules: [5, 35], powerMs: [0], watts: [300] } })

  const without = asking({}, {}, { reason: 'This GPU has no counter of total energy.' })
  const failing = asking({}, {}, { graphs: false, start: () => Promise.reject(new Error('the driver is lost')), stop: () => Promise.resolve(trace) })
  without.ask({ type: 'energy-start', id: 3 })
  failing.ask({ type: 'energy-start', id: 4 })
  await expect.poll(() => [...without.said, ...failing.said]).toEqual([{ id: 3, value: { reason: 'This GPU has no counter of total energy.' } }, { id: 4, value: { reason: 'the driver is lost' } }])
})
