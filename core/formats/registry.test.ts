import { expect, it } from 'vitest'
import { testResult, testSession } from '../testing'
import { REDACTIONS } from './redact'
import { exportSession, exportStream, FORMATS, importSession, MAX_BYTES, prepareExport } from './registry'
import { finishImport } from './shared/check'
import { goldenCeilings, goldenSession } from './testing/sessions'

for (const id of ['html', 'suite-picture']) await prepareExport(id)

/** A session of which never more than one result is looked at, with how many were given out. */
function streamed(file = goldenSession()) {
  const given = { count: 0 }
  const results = {
    length: file.results.length,
    *[Symbol.iterator]() {
      for (const result of file.results) {
        given.count++
        yield structuredClone(result)
      }
    },
  }
  return { session: { ...file, results }, given }
}

it.each(FORMATS.filter((format) => format.exportSession).map((format) => format.id))('%s from a session read result by result is what it is from the whole', (id) => {
  for (const leaveOut of [new Set<never>(), new Set(REDACTIONS)]) {
    const context = { ceilings: goldenCeilings, leaveOut, hints: { users: ['alice'] } }
    expect([...exportStream(id, streamed().session, context)].join('')).toBe(exportSession(id, goldenSession(), context))
  }
})

it.each(FORMATS.filter((format) => format.exportStream).map((format) => [format.id, format.exportStream!.readings] as const))('%s is written while the session is read, and never kept', (id, readings) => {
  const { session, given } = streamed()
  const shares: number[] = []
  const count = session.results.length
  let parts = 0
  // In the last reading each part stands for a result, and none was read before it was asked for.
  for (const _part of exportStream(id, session, { ceilings: [] }, (share) => shares.push(share))) expect(given.count).toBeLessThanOrEqual(count * (readings - 1) + ++parts)
  expect(given.count).toBe(count * readings)
  expect(shares).toHaveLength(count * readings)
  expect(shares.at(-1)).toBe(1)
})

it('a result that is not valid stops a native file with its place', () => {
  const file = goldenSession()
  file.results[1] = { ...file.results[1]!, wallMs: 'long' as unknown as number }
  for (const id of ['json', 'jsonl']) expect(() => exportSession(id, file)).toThrow('the session cannot be exported: results[1].wallMs: expected a number, received "long"')
})

it('finds every format folder, and each writes a file that ends in a newline', () => {
  expect(FORMATS.map((format) => format.id).sort()).toEqual(Object.keys(import.meta.glob('./*/format.ts')).map((path) => path.split('/')[1]).sort())
  for (const format of FORMATS) if (format.exportSession) expect(exportSession(format.id, testSession())).toMatch(/[^\n]\n$/)
})

it('an unknown format names the choices', () => {
  expect(() => exportSession('xml', testSession())).toThrow(/cannot export as "xml"; expected one of json, .*csv/)
})

it('a file beyond the size limit is not looked at', () => {
  const huge = { length: MAX_BYTES + 1 } as string
  expect(importSession('big.json', huge)).toEqual({ ok: false, message: 'big.json: larger than 64 Mi characters, the most that is read' })
})

it('a result that is valid as it stands is held once; what the schema leaves out of another is gone', () => {
  const [plain, more] = [testResult({ id: 'plain' }), { ...testResult({ id: 'more' }), secret: 1 }]
  const outcome = finishImport({ ...testSession([]), results: [plain, more] })
  if (!outcome.ok) throw new Error(outcome.message)
  expect(outcome.file.results[0]).toBe(plain)
  expect(outcome.file.results[1]).toEqual(testResult({ id: 'more' }))
})
