import { afterEach, describe, expect, it, vi } from 'vitest'
import { createWatchOwner, type WatchProcess } from './owner'
import type { OpenRequest } from './serve-watch'

/** A process that answers a request with `answer`, or not at all. */
function processOf(answer?: unknown) {
  const asked: OpenRequest[] = []
  let hear: (message: unknown) => void = () => undefined
  let exit: () => void = () => undefined
  const kill = vi.fn()
  const process: WatchProcess<string> = {
    open(request) {
      asked.push(request)
      if (answer !== undefined) queueMicrotask(() => hear(answer))
      return 'port'
    },
    kill,
    onMessage: (listener) => (hear = listener),
    onExit: (listener) => (exit = listener),
  }
  return { asked, process, kill, exit: () => exit() }
}

const OPENED = { type: 'opened', ok: true }
const ownerOf = (process: WatchProcess<string>) => createWatchOwner(() => Promise.resolve(process), () => 42)

afterEach(() => void vi.useRealTimers())

describe('the watch of a page', () => {
  it('starts a process when it is asked for, and ends it with the page', async () => {
    const { asked, process, kill } = processOf(OPENED)
    const start = vi.fn(() => Promise.resolve(process))
    const owner = createWatchOwner(start, () => 42)
    expect(start).not.toHaveBeenCalled()
    expect(await owner.open('NVIDIA H200')).toBe('port')
    expect(asked).toEqual([{ type: 'open', name: 'NVIDIA H200', worker: 42 }])
    expect(kill).not.toHaveBeenCalled()
    owner.close()
    expect(kill).toHaveBeenCalled()
    expect(await owner.open('NVIDIA H200')).toBeUndefined()
    expect(start).toHaveBeenCalledTimes(1)
  })

  it('takes no name that is none', async () => {
    const start = vi.fn(() => Promise.resolve(processOf(OPENED).process))
    const owner = createWatchOwner(start, () => 0)
    for (const name of [undefined, 7, '', 'x'.repeat(201), { name: 'NVIDIA H200' }]) expect(await owner.open(name)).toBeUndefined()
    expect(start).not.toHaveBeenCalled()
  })

  it.each<[string, unknown]>([
    ['has no such card', { type: 'opened', ok: false }],
    ['says nonsense', { type: 'opened', ok: 'yes' }],
  ])('leaves a process that %s', async (_what, answer) => {
    const { process, kill } = processOf(answer)
    expect(await ownerOf(process).open('NVIDIA H200')).toBeUndefined()
    expect(kill).toHaveBeenCalled()
  })

  it('leaves a process that ends, that is silent, or that cannot be started', async () => {
    vi.useFakeTimers()
    const ending = processOf()
    const asked = ownerOf(ending.process).open('NVIDIA H200')
    await vi.advanceTimersByTimeAsync(1)
    ending.exit()
    expect(await asked).toBeUndefined()

    const silent = processOf()
    const opening = ownerOf(silent.process).open('NVIDIA H200')
    await vi.advanceTimersByTimeAsync(10_000)
    expect(await opening).toBeUndefined()
    expect(silent.kill).toHaveBeenCalled()

    expect(await createWatchOwner(() => Promise.reject(new Error('not built')), () => 0).open('NVIDIA H200')).toBeUndefined()
  })

  it('keeps the newest of two that were asked for, and none for a page that is gone', async () => {
    const processes = [processOf(OPENED), processOf(OPENED), processOf(OPENED)]
    let next = 0
    const owner = createWatchOwner(() => Promise.resolve(processes[next++]!.process), () => 0)
    expect(await Promise.all([owner.open('NVIDIA A'), owner.open('NVIDIA B')])).toEqual([undefined, 'port'])
    expect(processes.map(({ kill }) => kill.mock.calls.length)).toEqual([1, 0, 0])
    const last = owner.open('NVIDIA A')
    owner.close()
    expect(await last).toBeUndefined()
    expect(processes.every(({ kill }) => kill.mock.calls.length > 0)).toBe(true)
  })
})
