import { expect, test } from 'vitest'
import { formatFor } from './files'

test('the extension of a file says its format, an option does so before it, and an unknown one is refused with those that are known', () => {
  expect([formatFor(undefined, 'x.csv'), formatFor(undefined, 'X.JSON'), formatFor(undefined, '-'), formatFor('csv', 'x.foo')]).toEqual(['csv', 'json', 'json', 'csv'])
  for (const out of ['x.foo', 'results']) expect(() => formatFor(undefined, out)).toThrow(new RegExp(`^--out ${out}: no format has this extension; expected .*\\.csv, .*\\.json.*, or --format with one of json, .*markdown`))
})
