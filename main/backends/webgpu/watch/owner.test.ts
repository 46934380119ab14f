import { afterEach, describe, expect, it, vi } from 'vitest'
import type { HostProcess } from '../../../measurement/link'
import { createWatchOwner } from './owner'
import type { ToWatch } from './protocol'

const STATE = { smClockMhz: 1980 }

/** A process that answers by `script`, or not at all. */
function processOf(script: (message: ToWatch) => unknown) {
  const asked: ToWatch[] = []
  let hear: (message: unknown) => void = () => undefined
  let exit: (reason: string) => void = () => undefined
  const kill = vi.fn()
  const host: HostProcess<ToWatch> = {
    post: (message) => {
      asked.push(message)
      const answer = script(message)
      if (answer !== undefined) queueMicrotask(() => hear(answer))
    },
    kill,
    onMessage: (listener) => (hear = listener),
    onStderr: () => undefined,
    onExit: (listener) => (exit = listener),
  }
  return { asked, host, kill, exit: () => exit('crashed') }
}

const good = (message: ToWatch) => (message.type === 'open' ? { type: 'opened', ok: true } : message.type === 'end' ? { type: 'state', id: message.id, state: STATE } : undefined)

afterEach(() => void vi.useRealTimers())

describe('the watch of a page', () => {
  it('starts a process when it is asked for, and gives what that sees', async () => {
    const process = processOf(good)
    const start = vi.fn(() => Promise.resolve(process.host))
    const owner = createWatchOwner(start, () => 42)
    expect(await owner.end()).toBeUndefined()
    expect(start).not.toHaveBeenCalled()
    expect(await owner.open('NVIDIA H200')).toBe(true)
    owner.begin(true)
    expect(await owner.end()).toEqual(STATE)
    expect(process.asked).toMatchObject([{ type: 'open', name: 'NVIDIA H200', worker: 42 }, { type: 'begin', long: true }, { type: 'end' }])
    owner.close()
    expect(process.kill).toHaveBeenCalled()
    expect(await owner.end()).toBeUndefined()
    expect(await owner.open('NVIDIA H200')).toBe(false)
    expect(start).toHaveBeenCalledTimes(1)
  })

  it('takes no name that is none', async () => {
    const start = vi.fn(() => Promise.resolve(processOf(good).host))
    const owner = createWatchOwner(start, () => 0)
    for (const name of [undefined, 7, '', 'x'.repeat(201), { name: 'NVIDIA H200' }]) expect(await owner.open(name)).toBe(false)
    expect(start).not.toHaveBeenCalled()
  })

  it('leaves a process that has no such card, says nonsense, or cannot be started', async () => {
    const without = processOf((message) => (message.type === 'open' ? { type: 'opened', ok: false } : undefined))
    const mad = processOf(() => ({ type: 'opened', ok: 'yes' }))
    for (const process of [without, mad]) {
      const owner = createWatchOwner(() => Promise.resolve(process.host), () => 0)
      expect(await owner.open('NVIDIA H200')).toBe(false)
      expect(process.kill).toHaveBeenCalled()
      expect(await owner.end()).toBeUndefined()
    }
    expect(await createWatchOwner(() => Promise.reject(new Error('not built')), () => 0).open('NVIDIA H200')).toBe(false)
  })

  it('refuses a state that is none, and what is no answer to the question', async () => {
    const mad = processOf((message) => (message.type === 'end' ? { type: 'state', id: message.id, state: { throttle: 'hot' } } : good(message)))
    const owner = createWatchOwner(() => Promise.resolve(mad.host), () => 0)
    await owner.open('NVIDIA H200')
    expect(await owner.end()).toBeUndefined()
    expect(mad.kill).toHaveBeenCalled()

    const late = processOf((message) => (message.type === 'end' ? { type: 'state', id: message.id - 1, state: STATE } : good(message)))
    const patient = createWatchOwner(() => Promise.resolve(late.host), () => 0)
    await patient.open('NVIDIA H200')
    const first = patient.end()
    // The next question takes the place of one that has no answer yet.
    void patient.end()
    expect(await first).toBeUndefined()
  })

  it('answers at once where the process ends, or ended long ago', async () => {
    const silent = processOf((message) => (message.type === 'end' ? undefined : good(message)))
    const owner = createWatchOwner(() => Promise.resolve(silent.host), () => 0)
    await owner.open('NVIDIA H200')
    const asked = owner.end()
    silent.exit()
    expect(await asked).toBeUndefined()
    expect(await owner.end()).toBeUndefined()
  })

  it('gives up a process that does not open the card, and one whose page is gone before it started', async () => {
    vi.useFakeTimers()
    const silent = processOf(() => undefined)
    const opening = createWatchOwner(() => Promise.resolve(silent.host), () => 0).open('NVIDIA H200')
    await vi.advanceTimersByTimeAsync(10_000)
    expect(await opening).toBe(false)
    expect(silent.kill).toHaveBeenCalled()

    const slow = processOf(good)
    let started: (host: HostProcess<ToWatch>) => void = () => undefined
    const owner = createWatchOwner(() => new Promise((resolve) => (started = resolve)), () => 0)
    const wanted = owner.open('NVIDIA H200')
    owner.close()
    started(slow.host)
    expect(await wanted).toBe(false)
    expect(slow.kill).toHaveBeenCalled()
  })
})
