import { describe, expect, it } from 'vitest'
import { facetChoices, filterFromQuery, filterSessions, filterToQuery, isFiltering, NO_FILTER, type SessionFilter } from './filter'
import type { SessionSummary } from './types'

/** Local noon of a day in March 2026, so that no time zone moves it to another day. */
const noon = (day: number) => new Date(2026, 2, day, 12).toISOString()

const session = (id: string, change: Partial<SessionSummary> = {}): SessionSummary => ({
  id, name: id, createdAt: noon(1), notes: '', tags: [], state: 'done', planned: 1, results: 1, failures: 0, ops: ['add'], devices: ['Xeon'], ...change,
})

const SESSIONS = [
  session('a', { tags: ['nightly', 'h200'], devices: ['H200', 'Xeon'], ops: ['add', 'softmax'] }),
  session('b', { tags: ['nightly'], createdAt: noon(5), notes: 'After the Änderung of fans' }),
  session('c', { createdAt: noon(9), ops: ['copy'], about: { kind: 'ceilings' } }),
  session('d', { createdAt: 'some day', state: 'interrupted', about: { kind: 'self-check' } }),
]
const found = (change: Partial<SessionFilter>) => filterSessions(SESSIONS, { ...NO_FILTER, ...change }).map(({ id }) => id).join('')

describe('a filter of sessions', () => {
  it('chooses all when empty', () => {
    expect(found({})).toBe('abcd')
    expect(isFiltering(NO_FILTER)).toBe(false)
    expect(isFiltering({ ...NO_FILTER, search: '  ' })).toBe(false)
  })

  it('takes any value of a facet, and every facet', () => {
    expect(found({ tags: ['nightly'] })).toBe('ab')
    expect(found({ tags: ['h200', 'nightly'], ops: ['softmax'] })).toBe('a')
    expect(found({ kinds: ['ceilings', 'self-check'] })).toBe('cd')
    expect(found({ kinds: ['sweep'], devices: ['H200'] })).toBe('a')
    expect(found({ devices: ['none'] })).toBe('')
  })

  it('searches every word in everything that a row shows', () => {
    expect(found({ search: 'NIGHTLY xeon' })).toBe('ab')
    expect(found({ search: 'änderung' })).toBe('b')
    expect(found({ search: 'interrupted' })).toBe('d')
  })

  it('takes days from first to last, both included; what has no date has no day', () => {
    expect(found({ from: '2026-03-01', to: '2026-03-05' })).toBe('ab')
    expect(found({ from: '2026-03-02' })).toBe('bc')
    expect(found({ to: '2026-03-04' })).toBe('a')
  })
})

describe('choices', () => {
  it('count what choosing them would show beside the other facets', () => {
    const { tags, kinds, ops } = facetChoices(SESSIONS, { ...NO_FILTER, tags: ['h200'] })
    expect(tags).toEqual([{ value: 'nightly', count: 2 }, { value: 'h200', count: 1 }])
    expect(kinds).toEqual([{ value: 'sweep', count: 1 }, { value: 'ceilings', count: 0 }, { value: 'self-check', count: 0 }])
    expect(ops[0]).toEqual({ value: 'add', count: 1 })
  })

  it('keep what is chosen although no session has it', () => {
    expect(facetChoices(SESSIONS, { ...NO_FILTER, tags: ['gone'] }).tags).toContainEqual({ value: 'gone', count: 0 })
  })
})

describe('the address of a filter', () => {
  it('brings the same filter again', () => {
    const filter: SessionFilter = { search: 'fans', tags: ['a b', 'c'], devices: ['H200'], ops: [], kinds: ['sweep'], from: '2026-03-01', to: '' }
    expect(filterFromQuery(filterToQuery(filter))).toEqual(filter)
    expect(filterToQuery(NO_FILTER)).toEqual({})
  })

  it('with anything else in it is a filter without that', () => {
    expect(filterFromQuery({ tags: [null, 'x', 'x'], from: 'yesterday', to: ['2026-01-01'], other: 'y' })).toEqual({ ...NO_FILTER, tags: ['x'] })
  })
})
