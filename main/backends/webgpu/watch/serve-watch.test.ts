import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { NativeGpuWatch } from '../../native/addon'
import { serveWatch, type Answer } from './serve-watch'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** A page that asks about a card which notes what is done to it, in this state and otherwise as changed. */
function asking(change: Partial<NativeGpuWatch> = {}, state: unknown = { smClockMhz: 1980 }) {
  const said: Answer[] = []
  const done: string[] = []
  const card: NativeGpuWatch = { begin: (energy) => void done.push(`begin ${energy}`), read: () => void done.push('read'), end: () => (done.push('end'), state), ...change }
  return { said, done, ask: serveWatch(card, (answer) => said.push(answer)) }
}

it('looks at the card while it works and at no other time', () => {
  const { done, said, ask } = asking()
  vi.advanceTimersByTime(1000)
  ask({ type: 'begin', long: true })
  vi.advanceTimersByTime(50)
  ask({ type: 'end', id: 7 })
  vi.advanceTimersByTime(1000)
  expect(done).toEqual(['begin true', 'read', 'read', 'read', 'end'])
  expect(said).toEqual([{ id: 7, state: { smClockMhz: 1980 } }])
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
  expect(said).toEqual([{ id: 3, state: {} }])
})

it('passes over what is no question', () => {
  const { done, said, ask } = asking()
  for (const message of [undefined, 'end', { type: 'open', name: 'x', worker: 1 }, { type: 'begin' }, { type: 'begin', long: 1 }, { type: 'end', id: 'x' }]) ask(message)
  expect([said, done]).toEqual([[], []])
})
