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
    expect(await inPhase(phase)).toEqual({ sweeps: [], imported: [], problems: ['a.json: A run is in progress, and reading files would disturb its measurements. Pause or stop the run, then try again.'], warnings: [] })
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

it('a captured sweep is opened as one, and refused with its name where it is not valid', async () => {
  const runner = { state: () => ({ phase: 'idle', done: 0, total: 0, failures: 0 }) } as unknown as Services['runner']
  const open = (name: string, content: object) => importAll({ history: undefined as unknown as Services['history'], runner, emit: vi.fn(), files: {} as Services['files'] }, [{ name, from: new TextEncoder().encode(JSON.stringify(content)) }])
  const sweep = { opscopeSweep: 1, name: 'Shapes of a.py', picks: { ops: [{ op: 'add', sizes: '4', dtypes: ['f32'] }], sizes: {}, dtypes: ['f32'] } }
  expect(await open('a.sweep.json', sweep)).toEqual({ sweeps: [sweep], imported: [], problems: [], warnings: [] })
  expect(await open('b.json', { ...sweep, picks: {} })).toMatchObject({ sweeps: [], problems: [expect.stringMatching(/^b\.json: not a captured sweep that can be read \([^]*picks\.ops/)] })
})
