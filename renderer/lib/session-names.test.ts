import { expect, it } from 'vitest'
import { distinctNames } from './session-names'

const session = (id: string, name: string, createdAt: string) => ({ id, name, createdAt })

it('tells sessions of one name apart by when they were made, and leaves the others alone', () => {
  const names = distinctNames([
    session('a', 'nightly', '2026-11-20T10:00:00'),
    session('b', 'nightly', '2026-11-21T10:00:05'),
    session('c', 'nightly', '2026-11-21T10:00:40'),
    session('d', 'driver 570', '2026-11-21T10:00:05'),
  ])
  expect(names.get('d')).toBe('driver 570')
  expect(names.get('a')).toMatch(/^nightly, 20 Nov,? 10:00$/)
  expect(names.get('b')).toMatch(/10:00:05$/)
  expect(new Set(names.values()).size).toBe(4)
})
