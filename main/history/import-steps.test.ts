import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { testCase, testResult, testSession } from '@core/testing'
import { openHistory, joinHistory, type History } from './index'
import type { SqliteHistory } from './sqlite-history'

let folder: string
let history: History
let joined: SqliteHistory
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'opscope-steps-'))
  history = openHistory(join(folder, 'history.db')).history
  joined = joinHistory(join(folder, 'history.db'))
})
afterEach(() => {
  joined.close()
  history.close()
  rmSync(folder, { recursive: true, force: true })
})

const large = () => testSession(Array.from({ length: 1200 }, (_, i) => testResult({ id: `r${i}`, case: testCase({ params: { n: i % 50 } }), status: i % 3 ? 'ok' : 'wrong' })))

it('gives the session that an import at once gives, to every process, and only when it is restored', () => {
  const file = large()
  const seen: [stored: number, visible: number][] = []
  const summary = joined.importInSteps(file, (stored) => {
    // Another process sees nothing of it, and can write in between.
    seen.push([stored, history.listSessions({ search: '', deleted: false }).length])
    history.importSession(testSession([], { id: `other-${stored}` }))
    history.deleteSessions([`other-${stored}`])
  })
  expect(seen).toEqual([[500, 0], [1000, 0], [1200, 0]])
  // Whole, and still to be cancelled.
  expect(history.listSessions({ search: '', deleted: false })).toEqual([])
  history.restoreSessions([summary.id])
  expect(history.listSessions({ search: '', deleted: false })).toEqual([summary])
  expect(summary).toMatchObject({ id: file.session.id, results: 1200, failures: 400 })
  expect(history.exportSession(summary.id)).toEqual(file)
})

it('that ends halfway leaves nothing to see', () => {
  const file = large()
  expect(() =>
    joined.importInSteps(file, (stored) => {
      if (stored === 1000) throw new Error('the process ends')
    }),
  ).toThrow('the process ends')
  expect(history.listSessions({ search: '', deleted: false })).toEqual([])
  // The same file can be imported afterwards.
  expect(history.importSession(large())).toMatchObject({ results: 1200 })
})
