import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Environment } from '@core/session/types'
import { openHistory, type History } from '.'
import { mergeSessions, splitSession } from './derive'
import { failedResult, testCase, testEnvironment, testResult, testSettings } from './testing/sessions'

let folder: string
let history: History
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'opscope-derive-'))
  history = openHistory(join(folder, 'history.db')).history
})
afterEach(() => {
  history.close()
  rmSync(folder, { recursive: true })
})

function add(name: string, cases: ReturnType<typeof testCase>[], environment: Environment = testEnvironment): string {
  const { id } = history.createSession({ name, environment, settings: testSettings, cases: [] })
  cases.forEach((c, i) => history.addResult(id, c.params['n'] === 13 ? failedResult(`${name}-${i}`, c) : testResult(`${name}-${i}`, c)))
  history.setState(id, 'done')
  history.updateSession(id, { tags: [name] })
  return id
}
const withoutIds = (id: string) => [...history.results(id)].map(({ id: _id, run: _run, ...rest }) => rest)
const runs = (id: string) => [...history.results(id)].map(({ run }) => run)

test('sessions with different cases become one with all results as they were; the originals stay', () => {
  const [a, b] = [add('a', [testCase(1), testCase(13)]), add('b', [testCase(2, 'exp')])]
  const before = [a, b].map((id) => history.exportSession(id))
  const { session, differences } = mergeSessions(history, [a, b])
  expect(differences).toEqual([])
  expect(session).toMatchObject({ name: 'a + b', results: 3, planned: 3, failures: 1, state: 'done', ops: ['add', 'exp'], devices: ['Test CPU 9000'], tags: ['a', 'b'], about: { kind: 'merged' } })
  expect(session.notes).toContain(a)
  expect(withoutIds(session.id)).toEqual([...withoutIds(a), ...withoutIds(b)])
  expect(runs(session.id)).toEqual([undefined, undefined, undefined])
  expect([a, b].map((id) => history.exportSession(id))).toEqual(before)
  history.deleteSessions([session.id])
  expect(history.listSessions({ search: '', deleted: false }).map(({ id }) => id).sort()).toEqual([a, b].sort())
})

test('the same cases of several sessions become repeats', () => {
  const ids = [add('a', [testCase(1), testCase(2)]), add('b', [testCase(1), testCase(2)]), add('c', [testCase(1)])]
  expect(runs(mergeSessions(history, ids, 'all').session.id)).toEqual([0, 0, 1, 1, 2])
})

test('differences of the places are told and kept in the notes; different devices under one id are refused', () => {
  const a = add('a', [testCase(1)])
  const b = add('b', [testCase(1)], { ...testEnvironment, kernel: '7.0' })
  const other = add('other', [testCase(1)], { ...testEnvironment, devices: [{ ...testEnvironment.devices[0]!, name: 'Another CPU' }] })
  const { session, differences } = mergeSessions(history, [a, b])
  expect(differences).toEqual(['Kernel: 6.1 in “a”, 7.0 in “b”.'])
  expect(session.notes).toContain(differences[0])
  const count = history.listSessions({ search: '', deleted: false }).length
  expect(() => mergeSessions(history, [a, other])).toThrow(/could not be told apart/)
  expect(() => mergeSessions(history, [a])).toThrow(/two sessions/)
  expect(history.listSessions({ search: '', deleted: false })).toHaveLength(count)
})

test('what is running, measured interleaved or empty is not merged', () => {
  const a = add('a', [testCase(1)])
  const running = history.createSession({ name: 'now', environment: testEnvironment, settings: testSettings, cases: [] }).id
  history.addResult(running, testResult('now', testCase(1)))
  expect(() => mergeSessions(history, [a, running])).toThrow(/still being measured/)
  const turns = history.createSession({ name: 'turns', environment: testEnvironment, settings: testSettings, cases: [], about: { kind: 'interleaved', session: a } }).id
  history.setState(turns, 'done')
  expect(() => mergeSessions(history, [a, turns])).toThrow(/interleaved measurement/)
  expect(() => mergeSessions(history, [a, add('empty', [])])).toThrow(/no results/)
})

test('a session is split by a property of its cases, or into what was selected', () => {
  const id = add('mixed', [testCase(1), testCase(2, 'exp'), testCase(3), { ...testCase(1), impl: 'sse2' }])
  const parts = splitSession(history, id, { by: 'op' })
  expect(parts.map(({ name, results, ops, about }) => ({ name, results, ops, about }))).toEqual([
    { name: 'mixed: add', results: 3, ops: ['add'], about: { kind: 'part' } },
    { name: 'mixed: exp', results: 1, ops: ['exp'], about: { kind: 'part' } },
  ])
  expect(withoutIds(parts[0]!.id)).toEqual([0, 2, 3].map((i) => withoutIds(id)[i]))
  expect(splitSession(history, id, { by: 'impl' }).map(({ name }) => name)).toEqual(['mixed: cpu avx2', 'mixed: cpu sse2'])
  const [selection] = splitSession(history, id, { results: ['mixed-1', 'mixed-3', 'not there'] })
  expect(withoutIds(selection!.id)).toEqual([1, 3].map((i) => withoutIds(id)[i]))
  expect(() => splitSession(history, id, { by: 'backend' })).toThrow(/same backend: cpu/)
  expect(() => splitSession(history, id, { results: ['nothing'] })).toThrow(/None of these/)
  expect(history.summary(id).results).toBe(4)
})
