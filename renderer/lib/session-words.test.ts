import { expect, it, onTestFinished } from 'vitest'
import { tellingDates, dayText, fullDate, minuteText, setDateLocale, shortDate, stateText } from './session-words'

const session = (id: string, name: string, createdAt: string) => ({ id, name, createdAt })

it('tells sessions of one name apart by when they were made, and leaves the others alone', () => {
  const dates = tellingDates([
    session('a', 'nightly', '2026-11-20T10:00:00'),
    session('b', 'nightly', '2026-11-21T10:00:05'),
    session('c', 'nightly', '2026-11-21T10:00:40'),
    session('d', 'driver 570', '2026-11-21T10:00:05'),
  ])
  expect(dates.has('d')).toBe(false)
  expect(dates.get('a')).toMatch(/^20 Nov,? 10:00$/)
  expect(dates.get('b')).toMatch(/10:00:05$/)
  expect(new Set(dates.values()).size).toBe(3)
})

it('does not call a session stopped whose cases are on a fleet', () => {
  expect(stateText({ state: 'stopped', failures: 0, results: 4, planned: 9 })).toBe('stopped early')
  expect(stateText({ state: 'interrupted', failures: 1, results: 4, planned: 9 }, true)).toBe('interrupted after 4 of 9 cases, 1 failed')
  expect((['stopped', 'cancelled', 'done'] as const).map((state) => stateText({ state, failures: 2, results: 9, planned: 9, about: { kind: 'fleet' } }))).toEqual(['on the fleet, 2 failed', 'cancelled, 2 failed', 'complete, 2 failed'])
})

it('writes dates in one order everywhere: day, month, year, time', () => {
  const iso = new Date(2025, 2, 3, 14, 3, 5).toISOString()
  expect([fullDate(iso), dayText(iso), minuteText(iso), minuteText(iso, true)]).toEqual(['3 Mar 2025 14:03:05', '3 Mar 2025', '3 Mar 14:03', '3 Mar 14:03:05'])
  expect(shortDate(iso, new Date(2025, 5, 1))).toBe('3 Mar 14:03')
  expect([fullDate('x'), dayText(''), minuteText('never')]).toEqual(['–', '–', '–'])
})

it('writes dates as the locale of the system does, and keeps to what it had for one that is unknown', () => {
  onTestFinished(() => setDateLocale('en-GB'))
  const iso = new Date(2025, 2, 3, 14, 3, 5).toISOString()
  const inLocale = (tag: string) => {
    setDateLocale(tag)
    return [dayText(iso), shortDate(iso, new Date(2025, 2, 3, 20))]
  }
  expect(inLocale('de-DE')).toEqual(['3. März 2025', 'Today 14:03'])
  expect(inLocale('en-US')).toEqual(['Mar 3, 2025', expect.stringMatching(/^Today 02:03.PM$/)])
  for (const tag of ['xx-nowhere', 'C.UTF-8', '']) expect(inLocale(tag)[0]).toBe('Mar 3, 2025')
})
