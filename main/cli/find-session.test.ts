import { expect, test } from 'vitest'
import type { SessionSummary } from '@core/session/types'
import { findSession } from './find-session'

const session = (id: string, name: string, day: number): SessionSummary => ({
  id, name, createdAt: `2026-01-0${day}T00:00:00.000Z`, notes: '', tags: [], state: 'done', planned: 1, results: 1, failures: 0, ops: [], devices: [],
})
const all = [session('ab12', 'softmax · cpu', 1), session('ab34', 'twice', 3), session('cd56', 'twice', 2)]

test('a session is found by id, beginning of an id, name, or as the last one', () => {
  expect(findSession('ab12', all).id).toBe('ab12')
  expect(findSession('c', all).id).toBe('cd56')
  expect(findSession('softmax · cpu', all).id).toBe('ab12')
  expect(findSession('last', all).id).toBe('ab34')
})

test('what fits several or none is refused with what would fit', () => {
  expect(() => findSession('ab', all)).toThrow(/fits 2 sessions: ab34 .*ab12/)
  expect(() => findSession('twice', all)).toThrow(/fits 2 sessions/)
  expect(() => findSession('softmx · cpu', all)).toThrow('Did you mean "softmax · cpu"?')
  expect(() => findSession('', [all[0]!])).toThrow(/no session given/)
  expect(() => findSession('last', [])).toThrow(/no session yet/)
})
