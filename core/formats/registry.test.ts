import { expect, it } from 'vitest'
import { testSession } from '../testing'
import { exportSession, FORMATS, importSession, MAX_CHARACTERS } from './registry'

it('finds every format folder, and each writes a file that ends in a newline', () => {
  expect(FORMATS.map((format) => format.id).sort()).toEqual(Object.keys(import.meta.glob('./*/format.ts')).map((path) => path.split('/')[1]).sort())
  for (const format of FORMATS) if (format.exportSession) expect(exportSession(format.id, testSession())).toMatch(/[^\n]\n$/)
})

it('an unknown format names the choices', () => {
  expect(() => exportSession('xml', testSession())).toThrow(/cannot export as "xml"; expected one of json, .*csv/)
})

it('a file beyond the size limit is not looked at', () => {
  const huge = { length: MAX_CHARACTERS + 1 } as string
  expect(importSession('big.json', huge)).toEqual({ ok: false, message: 'big.json: larger than 256 Mi characters, the most that is read' })
})
