import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openHistory, type History } from '.'
import { openSqlite } from './database/sqlite'
import { findingsOf } from './findings'
import { failedResult, testCase, testEnvironment, testResult, testSettings } from './testing/sessions'

let folder: string
let file: string
let history: History

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'opscope-findings-'))
  file = join(folder, 'history.db')
  history = openHistory(file).history
})
afterEach(() => {
  history.close()
  rmSync(folder, { recursive: true })
})

test('results below grade A give what findings use, with how many samples they have; damaged ones are left out', async () => {
  const { id } = history.createSession({ name: 'one', environment: testEnvironment, settings: testSettings, cases: [] })
  const results = [testResult('a', testCase(1)), { ...testResult('b', testCase(2)), grade: 'B' as const, converged: false, stopReason: 'time limit' }, { ...testResult('c', testCase(3)), grade: 'C' as const }, failedResult('d', testCase(1))]
  results[0]!.grade = 'A'
  for (const one of results) history.addResult(id, one)
  const details = () => new Map([...history.details(id)].flatMap((page) => [...page]))
  expect([...details().keys()]).toEqual(['b', 'c'])
  expect((await findingsOf(history, id)).find(({ rule }) => rule === 'not-converged')).toMatchObject({ rows: ['b'] })
  expect(details().get('b')).toMatchObject({ converged: false, stopReason: 'time limit', taken: results[1]!.samplesNs.length })
  const db = openSqlite(file)
  db.exec("update bodies set json = '{' where json like '%\"c\"%'")
  db.close()
  expect([...details().keys()]).toEqual(['b'])
})
