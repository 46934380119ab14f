import { beforeEach, expect, it, vi } from 'vitest'
import type { Link } from '@core/session/links'
import { NotFoundError } from '../history/types'
import { createLinks, linkIn, registerLinks } from './links'

const link: Link = { view: 'session', id: 'abc' }
const emit = vi.fn()
const show = vi.fn()
let hasWindow: boolean
const links = () =>
  createLinks({
    history: { summary: (id) => { if (id !== 'abc' && id !== 'def') throw new NotFoundError(`there is no session "${id}"`); return {} as never } },
    emit, show, hasWindow: () => hasWindow,
  })
beforeEach(() => {
  vi.clearAllMocks()
  hasWindow = true
})

it('shows the view in the window there is', () => {
  links().open({ view: 'compare', ids: ['abc', 'def'] })
  expect(show.mock.calls).toEqual([[undefined]])
  expect(emit.mock.calls).toEqual([['link:opened', { view: 'compare', ids: ['abc', 'def'] }]])
})

it('opens the first window at the view', () => {
  hasWindow = false
  links().open(link)
  expect(show.mock.calls).toEqual([['/session/abc']])
  expect(emit).not.toHaveBeenCalled()
})

it('says that a session is not here, and opens no view of it', () => {
  links().open({ view: 'compare', ids: ['abc', 'gone'] })
  expect(show.mock.calls).toEqual([[]])
  expect(emit.mock.calls).toEqual([['notice', { level: 'warning', message: expect.stringContaining('not in this history') }]])
})

it('is found among the arguments of a start, and nothing else is', () => {
  expect(linkIn(['opscope', '--no-sandbox', 'opscope://session/abc'])).toEqual(link)
  expect(linkIn(['opscope://session/abc', 'opscope://settings', 'file.json', 'opscope://session/a/b/c'])).toBeUndefined()
})

it('is registered by a packed app outside Linux alone', () => {
  const register = vi.fn(() => true)
  for (const isPackaged of [true, false]) for (const platform of ['linux', 'darwin', 'win32'] as const) registerLinks({ isPackaged, setAsDefaultProtocolClient: register }, platform)
  expect(register.mock.calls).toEqual([['opscope'], ['opscope']])
})
