import { expect, it } from 'vitest'
import { dayText, fullDate, minuteText, shortDate } from './dates'

it('writes dates in one order everywhere: day, month, year, time', () => {
  const iso = new Date(2025, 2, 3, 14, 3, 5).toISOString()
  expect([fullDate(iso), dayText(iso), minuteText(iso), minuteText(iso, true)]).toEqual(['3 Mar 2025 14:03:05', '3 Mar 2025', '3 Mar 14:03', '3 Mar 14:03:05'])
  expect(shortDate(iso, new Date(2025, 5, 1))).toBe('3 Mar 14:03')
  expect([fullDate('x'), dayText(''), minuteText('never')]).toEqual(['–', '–', '–'])
})
