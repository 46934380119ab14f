import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, it, onTestFinished, vi } from 'vitest'
import { exportSession } from '@core/formats/registry'
import type { RunState } from '@core/ipc'
import { testSession } from '@core/testing'
import type { Services } from '../app/services'
import { openHistory } from '../history'
import { filesIn, importAll } from './import-files'

it('nothing is read while a run measures, and each file is named; a paused run may be disturbed', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'opscope-import-'))
  const { history } = openHistory(join(folder, 'history.db'))
  onTestFinished(() => {
    history.close()
    rmSync(folder, { recursive: true })
  })
  const bytes = Buffer.from(exportSession('json', testSession()))
  const inPhase = (phase: RunState['phase']) => {
    const runner = { state: () => ({ phase, done: 0, total: 1, failures: 0 }) } as unknown as Services['runner']
    return importAll({ history, runner, emit: vi.fn(), files: {} as Services['files'] }, [{ name: 'a.json', from: bytes }])
  }
  for (const phase of ['starting', 'running', 'stopping'] as const) {
    expect(await inPhase(phase)).toEqual({ imported: [], problems: ['a.json was not imported. A run is in progress, and reading files would disturb its measurements. Pause or stop the run, then try again.'], warnings: [] })
  }
  expect(history.listSessions({ search: '', deleted: false })).toEqual([])
  for (const phase of ['paused', 'idle'] as const) expect((await inPhase(phase)).imported).toHaveLength(1)
})

it('finds files among the arguments of a start, by path or URL, and nothing else', () => {
  const folder = mkdtempSync(join(tmpdir(), 'opscope-import-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  for (const name of ['a b.json', 'c.csv', 'd.exe']) writeFileSync(join(folder, name), '')
  const found = filesIn(['opscope', '--x.json', 'c.csv', 'd.exe', 'gone.json', pathToFileURL(join(folder, 'a b.json')).href, 'file://elsewhere/a%20b.json', 'opscope://session/a.json'], folder)
  expect(found).toEqual([join(folder, 'c.csv'), join(folder, 'a b.json')])
})
