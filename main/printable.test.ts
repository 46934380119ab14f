import { expect, test } from 'vitest'
import { oneLine, printable } from './printable'

test('what would steer a terminal is written out, and every other text stays as it is', () => {
  expect(printable('\u001b]0;title\u0007\u001b[2J\u009b31m\r\u007f\u0000\b')).toBe('\\u001b]0;title\\u0007\\u001b[2J\\u009b31m\\u000d\\u007f\\u0000\\u0008')
  expect(printable('a\u202eb\u2066c\u2028')).toBe('a\\u202eb\\u2066c\\u2028')
  for (const text of ['add 1024×1024 ± 0.5 %\n\tµs ▲', 'naïve 数 👩‍💻 a-b']) expect(printable(text)).toBe(text)
})

test('JSON stays the same JSON', () => {
  const value = { name: '\u001b[2J\u009b31m\u202e\n' }
  expect(JSON.parse(printable(JSON.stringify(value)))).toEqual(value)
})

test('on one line nothing forges another', () => {
  expect(oneLine('a\r\nopscope: all is well\u2028b\u001b[2Kc')).toBe('a opscope: all is well b\\u001b[2Kc')
})
