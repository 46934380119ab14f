import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { caseId } from '@core/case'
import type { Session } from '@core/session/types'
import { openHistory, type History } from '../../history'
import { failedResult, testCase, testEnvironment, testResult, testSettings } from '../testing/sessions'

let folder: string
let history: History
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'opscope-case-'))
  history = openHistory(join(folder, 'history.db')).history
})
afterEach(() => {
  history.close()
  rmSync(folder, { recursive: true })
})

let serial = 0
/** A session made on a day of March 2026 with results of these medians (ns) for case 1; NaN: a failed one. */
function add(day: number, medians: readonly number[], change: { about?: Session['about']; host?: string } = {}): string {
  const session: Session = { id: `s${++serial}`, name: `day ${day}`, createdAt: `2026-03-${String(day).padStart(2, '0')}T00:00:00Z`, notes: '', tags: [], state: 'done', planned: medians.length, settings: testSettings, ...(change.about ? { about: change.about } : {}) }
  const results = medians.map((medianNs) => {
    const id = `r${++serial}`
    if (Number.isNaN(medianNs)) return failedResult(id, testCase(1))
    const made = testResult(id, testCase(1))
    return { ...made, wallMs: serial, summary: { ...made.summary!, medianNs, ciLowNs: medianNs - 1, ciHighNs: medianNs + 1 } }
  })
  return history.importSession({ schemaVersion: 2, session, environment: { ...testEnvironment, ...(change.host ? { host: change.host } : {}) }, results: [...results, testResult(`other${serial}`, testCase(2))] }).id
}
const followed = () => history.caseHistory(caseId(testCase(1)))

test('one case over all sessions, oldest first, with its place', () => {
  const later = add(9, [120], { host: 'newer' })
  const earlier = add(2, [100])
  const { case: found, points, failed } = followed()
  expect(found).toEqual(testCase(1))
  expect(failed).toBe(0)
  expect(points.map(({ sessionId, medianNs, ciLowNs, ciHighNs, grade, results }) => ({ sessionId, medianNs, ciLowNs, ciHighNs, grade, results }))).toEqual([
    { sessionId: earlier, medianNs: 100, ciLowNs: 99, ciHighNs: 101, grade: 'B', results: 1 },
    { sessionId: later, medianNs: 120, ciLowNs: 119, ciHighNs: 121, grade: 'B', results: 1 },
  ])
  expect(points[1]!.place).toEqual(expect.arrayContaining([['Machine', 'newer'], ['Device', 'Test CPU 9000']]))
  expect(history.result(points[0]!.resultId).summary?.medianNs).toBe(100)
})

test('repeats of one session are one point with the widest interval; what failed is counted and left out', () => {
  add(1, [100, 110, NaN, 104])
  add(2, [NaN])
  const { points, failed } = followed()
  expect(points).toMatchObject([{ medianNs: 104, ciLowNs: 99, ciHighNs: 111, results: 3 }])
  expect(failed).toBe(2)
})

test('the same measurement in a copied session counts once; deleted sessions and interleaved blocks do not count', () => {
  const first = add(1, [100])
  history.importSession({ ...history.exportSession(first) })
  history.deleteSessions([add(2, [200])])
  add(3, [300], { about: { kind: 'interleaved', session: first } })
  add(4, [400], { about: { kind: 'self-check' } })
  expect(followed().points.map(({ medianNs }) => medianNs)).toEqual([100])
  expect(history.caseHistory('no|such|case')).toEqual({ points: [], failed: 0 })
})

test('tags of several sessions change together or not at all', () => {
  const [a, b] = [add(1, [1]), add(2, [2])]
  expect(history.setTags([{ id: a, tags: ['x', 'y'] }, { id: b, tags: [] }]).map(({ tags }) => tags)).toEqual([['x', 'y'], []])
  expect(() => history.setTags([{ id: a, tags: ['z'] }, { id: 'nobody', tags: ['z'] }])).toThrow(/nobody/)
  expect(history.summary(a).tags).toEqual(['x', 'y'])
})
