import { mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { importSession } from '@core/formats/registry'
import { saveUnsaved } from '../cli/follow'
import { type History, openHistory } from '../history'
import { createRunnerWith } from '.'
import { aCase, anEnvironment, aSpec, planOf, ScriptedKind } from './testing'
import type { RunnerEvents } from './types'

let folder: string
let data: string
let history: History
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'opscope-storage-'))
  data = join(folder, 'data')
  history = openHistory(join(data, 'history.sqlite')).history
})
afterEach(() => {
  history.close()
  rmSync(folder, { recursive: true, force: true })
})

const summary = { count: 3, medianNs: 2 }

/** Runs six cases; `trouble` comes when the fourth begins. */
async function runWith(trouble: () => void) {
  const host = new ScriptedKind('cpu')
  host.onCase = (c) => c.params['n'] === 4 && trouble()
  const runner = createRunnerWith({ history, hostKinds: [host], planner: planOf([1, 2, 3, 4, 5, 6].map((n) => aCase(n))), settings: () => ({}), environment: anEnvironment })
  const ended = new Promise<RunnerEvents['ended']>((resolve) => runner.on('ended', resolve))
  await runner.start(aSpec(['cpu']))
  const end = await ended
  const unsaved = runner.unsaved()
  await runner.dispose()
  return { end, unsaved, measured: host.measured.length }
}

it.runIf(process.platform !== 'win32').each([
  ['is removed', () => rmSync(data, { recursive: true })],
  ['has another name', () => renameSync(data, `${data}-elsewhere`)],
  ['is replaced', () => {
    renameSync(data, `${data}-elsewhere`)
    openHistory(join(data, 'history.sqlite')).history.close()
  }],
])('a data folder that %s in a run ends it at once, and no result is lost', async (_how, trouble) => {
  const { end, unsaved, measured } = await runWith(trouble)
  expect(measured).toBe(4)
  expect(end).toMatchObject({ state: 'stopped', unsaved: 4, problem: expect.stringMatching(/history\.sqlite is gone/) as string })
  expect(unsaved?.results.map((result) => result.case.params['n'])).toEqual([1, 2, 3, 4])
  const saved = saveUnsaved({ ...unsaved!, results: unsaved!.results.map((result) => ({ ...result, summary })) }, [join(folder, 'nowhere'), folder])
  if (!('path' in saved)) throw new Error(saved.problem)
  expect(importSession('saved.json', readFileSync(saved.path, 'utf8'))).toMatchObject({ ok: true, file: { session: { state: 'stopped' }, results: { length: 4 } } })
})

it('where a disk takes nothing more, the run ends, and the result that was not stored is kept with the others', async () => {
  const { addResult } = history
  const { end, unsaved } = await runWith(() => {
    history.addResult = () => {
      throw Object.assign(new Error('database or disk is full'), { errcode: 13 })
    }
  })
  history.addResult = addResult
  expect(end).toMatchObject({ state: 'stopped', unsaved: 1, problem: expect.any(String) as string })
  expect(unsaved?.results.map((result) => result.case.params['n'])).toEqual([1, 2, 3, 4])
  expect(history.summary(end.sessionId)).toMatchObject({ results: 3, state: 'stopped' })
})

it('says which places took no file, and never writes over one', async () => {
  const { unsaved } = await runWith(() => rmSync(data, { recursive: true }))
  const again = () => saveUnsaved({ ...unsaved!, results: [] }, [folder])
  expect(new Set([again(), again()].map((saved) => ('path' in saved ? saved.path : saved.problem))).size).toBe(2)
  expect(readdirSync(folder).filter((name) => name.startsWith('opscope-unsaved-'))).toHaveLength(2)
  expect(saveUnsaved({ ...unsaved!, results: [] }, [join(folder, 'a'), join(folder, 'b')])).toEqual({ problem: expect.stringMatching(/cannot write .*a.opscope-unsaved.*; cannot write .*b.opscope-unsaved/) as string })
})
