import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { readSweep, type SweepFile } from '@core/sweep/capture'
import type { Services } from '../../app/services'
import { captureHandlers } from './capture'

let folder: string
let python: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'opscope-capture-test-'))
  python = join(folder, 'python')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** A program in the place of a Python: it gets `-u`, capture.py, the file to write and the script. */
function play(body: string): void {
  writeFileSync(python, `#!/bin/sh\n${body}\n`)
  chmodSync(python, 0o755)
}
const CALLED = JSON.stringify({ opscopeCapture: 1, torch: '2.0', python: '3.11', command: ['a.py'], calls: 3, dropped: 0, devices: [], operations: [{ op: 'aten.add.Tensor', args: [{ shape: [4], strides: [1], dtype: 'float32', device: 'cpu' }, { shape: [4], strides: [1], dtype: 'float32', device: 'cpu' }], kwargs: {}, count: 3 }] })

function handlers({ found = [python], chosen = [join(folder, 'a.py')], phase = 'idle' }: { found?: string[]; chosen?: string[]; phase?: string } = {}) {
  const open = vi.fn(() => Promise.resolve(chosen))
  const services = { dialogs: { open, save: () => Promise.resolve(join(folder, 'saved.sweep.json')) }, foundPrograms: new Set(found), runner: { state: () => ({ phase }) }, emit: vi.fn() } as unknown as Services
  return { open, ...captureHandlers(services) }
}

it('runs no program that main has not found, and asks for no file then', async () => {
  play('echo ran')
  const { open, ...own } = handlers({ found: ['/usr/bin/other'] })
  await expect(own['capture:run']({ python })).rejects.toMatchObject({ code: 'refused', message: expect.stringContaining('is not a Python that Opscope has found') as string })
  expect(open).not.toHaveBeenCalled()
})

it('refuses while something is being measured, and does nothing where the dialog is cancelled', async () => {
  await expect(handlers({ phase: 'running' })['capture:run']({ python })).rejects.toMatchObject({ code: 'busy' })
  expect(await handlers({ chosen: [] })['capture:run']({ python })).toEqual({ done: false })
})

it('tells what the script called, with its picks', async () => {
  play(`printf '%s' '${CALLED}' > "$3"; echo hello`)
  expect(await handlers()['capture:run']({ python })).toMatchObject({ done: true, script: 'a.py', calls: 3, stopped: false, output: 'hello\n', shapes: { cases: [{ op: 'add', params: { n: 4 }, dtype: 'f32', calls: 3 }] }, picks: { ops: [{ op: 'add', sizes: '4', dtypes: ['f32'] }] } })
})

it('keeps what a failing script called, with its error and its output', async () => {
  play(`printf '%s' '${CALLED}' > "$3"; echo 'no data' >&2; exit 3`)
  expect(await handlers()['capture:run']({ python })).toMatchObject({ done: true, calls: 3, problem: 'The script ended with status 3.', output: 'no data\n' })
})

it('says why there is nothing, with the output of the program', async () => {
  play('echo "ImportError: no torch" >&2; exit 97')
  await expect(handlers()['capture:run']({ python })).rejects.toMatchObject({ code: 'failed', message: expect.stringContaining('has no PyTorch 1.13 or newer') as string, detail: 'ImportError: no torch\n' })
})

it('ends a script that is stopped, and keeps what it called until then', async () => {
  play(`printf '%s' '${CALLED}' > "$3"; touch ${folder}/ran; sleep 60`)
  const own = handlers()
  expect(own['capture:stop']()).toEqual({ stopped: false })
  const reply = own['capture:run']({ python })
  await expect.poll(() => existsSync(join(folder, 'ran'))).toBe(true)
  await expect(own['capture:run']({ python })).rejects.toMatchObject({ code: 'busy' })
  expect(own['capture:stop']()).toEqual({ stopped: true })
  expect(await reply).toMatchObject({ done: true, stopped: true, calls: 3 })
})

it('saves a captured sweep as the file that the window and the command line open', async () => {
  const sweep = { opscopeSweep: 1, name: 'Shapes of a.py', picks: { ops: [{ op: 'add', sizes: '4', dtypes: ['f32'] }], sizes: {}, dtypes: ['f32'] }, captured: { torch: '2.0', command: ['a.py'], calls: 3, cases: [], outside: [], views: 3 } } satisfies SweepFile
  expect(await handlers()['capture:save'](sweep)).toEqual({ done: true, name: 'saved.sweep.json' })
  expect(readSweep(readFileSync(join(folder, 'saved.sweep.json'), 'utf8'))).toEqual(sweep)
})
