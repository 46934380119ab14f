import { describe, expect, it, vi } from 'vitest'
import { REQUESTS, EVENTS, type Channel } from '@core/ipc'
import { CHANNELS, EVENT_NAMES } from '@core/ipc/names'
import { InUseError, NotFoundError } from '../history/types'
import { BusyError } from '../runner/types'
import { answer, RequestError, type Handlers } from './answer'

/** Handlers that all do `act`, to see whether one was reached. */
const allDoing = (act: () => never) => Object.fromEntries(Object.keys(REQUESTS).map((channel) => [channel, act])) as unknown as Handlers
const reached = (error: unknown) => allDoing(() => { throw error })

describe('answer', () => {
  it('asks nothing of an unknown sender', async () => {
    const act = vi.fn()
    const reply = await answer(allDoing(act as never), 'run:stop', undefined, false)
    expect(reply).toMatchObject({ ok: false, error: { code: 'refused' } })
    expect(act).not.toHaveBeenCalled()
  })

  const malformed: unknown[] = [null, 0, 'x', [], [[]], { id: 1 }, { ids: [''] }, { ids: 'a' }, { id: { $ne: null } }, { id: 'x'.repeat(65), first: -1, count: 0 }, { search: 1, deleted: 'no' }, { spec: {} }, JSON.parse('{"__proto__":{"id":"a"}}'), { theme: 'plaid' }, { kind: 'exe', name: '', data: 1 }, { link: 'file:///etc/passwd' }, { sessionIds: ['a'] }, { devices: [5] }, { refresh: 'yes' }, NaN, Symbol.iterator.toString(), new Map(), new Uint8Array(4)]
  it.each(Object.keys(REQUESTS) as Channel[])('refuses malformed payloads of %s before any effect', async (channel) => {
    const act = vi.fn()
    for (const payload of malformed) {
      if (REQUESTS[channel].request.safeParse(payload).success) continue
      expect(await answer(allDoing(act as never), channel, payload, true)).toMatchObject({ ok: false, error: { code: 'bad-request' } })
    }
    expect(act).not.toHaveBeenCalled()
  })

  it.each([
    [new NotFoundError('there is no session "x"'), 'not-found'],
    [new BusyError('a run is going'), 'busy'],
    [new InUseError('it is being measured'), 'busy'],
    [new RequestError('refused', 'no'), 'refused'],
    [new Error('disk full'), 'failed'],
    ['a string', 'failed'],
  ])('tells what kind of error it was: %s', async (error, code) => {
    expect(await answer(reached(error), 'run:stop', undefined, true)).toMatchObject({ ok: false, error: { code } })
  })

  it('never sends a stack', async () => {
    expect(JSON.stringify(await answer(reached(new Error('no')), 'run:stop', undefined, true))).not.toContain('answer.test')
  })
})

describe('ipc-names', () => {
  it('names exactly the requests and events of the contract', () => {
    expect([...CHANNELS].sort()).toEqual(Object.keys(REQUESTS).sort())
    expect([...EVENT_NAMES].sort()).toEqual(Object.keys(EVENTS).sort())
  })
})
