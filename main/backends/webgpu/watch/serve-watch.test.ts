import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { FromWatch } from './protocol'
import { serveWatch, type OpenWatch } from './serve-watch'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

function serving(open: OpenWatch) {
  const said: FromWatch[] = []
  return { said, hear: serveWatch(open, (message) => said.push(message)) }
}

/** A card that notes what is done to it. */
function card(state: unknown = { smClockMhz: 1980 }) {
  const done: string[] = []
  const open: OpenWatch = (name, worker) => {
    done.push(`open ${name} ${worker}`)
    return { begin: (energy) => void done.push(`begin ${energy}`), read: () => void done.push('read'), end: () => (done.push('end'), state) }
  }
  return { done, open }
}

it('looks at the card while it works and at no other time', () => {
  const { done, open } = card()
  const { said, hear } = serving(open)
  hear({ type: 'open', name: 'NVIDIA H200', worker: 42 })
  vi.advanceTimersByTime(1000)
  hear({ type: 'begin', long: true })
  vi.advanceTimersByTime(50)
  hear({ type: 'end', id: 7 })
  vi.advanceTimersByTime(1000)
  expect(done).toEqual(['open NVIDIA H200 42', 'begin true', 'read', 'read', 'read', 'end'])
  expect(said).toEqual([{ type: 'opened', ok: true }, { type: 'state', id: 7, state: { smClockMhz: 1980 } }])
})

it('begins anew where a window was never ended', () => {
  const { done, open } = card()
  const { hear } = serving(open)
  hear({ type: 'open', name: 'NVIDIA H200', worker: 0 })
  hear({ type: 'begin', long: false })
  vi.advanceTimersByTime(1)
  hear({ type: 'begin', long: false })
  vi.advanceTimersByTime(2)
  expect(done.slice(1)).toEqual(['begin false', 'begin false', 'read'])
})

it('says so where there is no such card, and has no state then', () => {
  const { said, hear } = serving(() => {
    throw new Error('There are 2 GPUs called NVIDIA H200')
  })
  hear({ type: 'open', name: 'NVIDIA H200', worker: 0 })
  hear({ type: 'begin', long: false })
  hear({ type: 'end', id: 1 })
  expect(said).toEqual([{ type: 'opened', ok: false }, { type: 'state', id: 1, state: {} }])
})

it('answers with no state where the driver fails or tells nonsense', () => {
  const failing = serving(() => ({
    begin: () => { throw new Error('lost') },
    read: () => { throw new Error('lost') },
    end: () => { throw new Error('lost') },
  }))
  const mad = serving(card({ smClockMhz: 'fast' }).open)
  for (const { said, hear } of [failing, mad]) {
    hear({ type: 'open', name: 'NVIDIA H200', worker: 0 })
    hear({ type: 'begin', long: false })
    vi.advanceTimersByTime(100)
    hear({ type: 'end', id: 3 })
    expect(said.at(-1)).toEqual({ type: 'state', id: 3, state: {} })
  }
})

it('passes over what is no message', () => {
  const { done, open } = card()
  const { said, hear } = serving(open)
  for (const message of [undefined, 'open', { type: 'open', name: '', worker: 0 }, { type: 'open', name: 'x', worker: -1 }, { type: 'begin' }, { type: 'end', id: 'x' }]) hear(message)
  expect([said, done]).toEqual([[], []])
})
