import { expect, it } from 'vitest'
import { tellingDates } from './session-names'

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
