import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { Services } from '../../app/services'
import { openHistory, type History } from '../../history'
import { testCase, testEnvironment, testResult, testSettings } from '../../history/testing/sessions'
import { sessionHandlers } from './sessions'

let folder: string
let history: History
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'opscope-sessions-'))
  history = openHistory(join(folder, 'history.db')).history
})
afterEach(() => {
  history.close()
  rmSync(folder, { recursive: true })
})

it('an interrupted session that is ended is offered no more, lists the operations it measured, and can still be resumed', () => {
  const emit = vi.fn()
  const end = sessionHandlers({ history, emit } as unknown as Services)['sessions:end']
  const { id } = history.createSession({ name: 'cut off', environment: testEnvironment, settings: testSettings, cases: [testCase(1), testCase(2, 'exp')] })
  // One that is being measured stays as it is.
  expect(end({ id })).toMatchObject({ state: 'running' })
  history.addResult(id, testResult('a', testCase(1)))
  history.setState(id, 'interrupted')
  expect(history.interrupted().map((session) => session.id)).toEqual([id])
  expect(end({ id })).toMatchObject({ id, state: 'stopped', results: 1, planned: 2, ops: [testCase(1).op] })
  expect(history.interrupted()).toEqual([])
  expect(history.remaining(id)).toHaveLength(1)
  expect(emit).toHaveBeenLastCalledWith('sessions:changed', { ids: [id] })
  expect(end({ id })).toMatchObject({ state: 'stopped' })
})
