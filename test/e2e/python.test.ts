import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join, resolve } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import type { Device } from '@core/backend'
import type { OpscopeApi } from '@core/ipc'
import type { Row } from '@core/session/rows'
import { Cli } from './cli'
import { launch, type Launched } from './launch'
import { answerMessages, coloursDrawn, details, grid, leavePicks, runToEnd, scripted, tableRows, view } from './ui'

/** Pythons of a user, played by scripts: whether a machine has real ones does not matter here. */
const folder = mkdtempSync(join(tmpdir(), 'opscope-pythons-'))
const worker = resolve(import.meta.dirname, '../fixtures/python-worker.mjs')

/** A program that answers the probe as a Python with PyTorch, and whose first worker follows the scenario. */
function python(name: string, scenario: string, probe = JSON.stringify({ python: '3.12.1', prefix: `/env/${name}`, packages: [{ name: 'torch', version: '2.5.1' }, { name: 'numpy', problem: 'not installed' }], cpu: { ok: true }, cuda: { ok: false, reason: 'CPU-only build' }, impls: { cpu: [{ id: 'torch', title: 'PyTorch', available: { ok: true }, kernels: { add: ['f32'] }, preferred: true }], cuda: [] } })): string {
  const path = join(folder, name)
  writeFileSync(path, `#!/bin/sh\ncase "$4" in --version) echo Python 3.12.1;; *probe.py) echo '${probe}';; *) exec '${process.execPath}' '${worker}' ${scenario} '${path}.began';; esac\n`)
  chmodSync(path, 0o755)
  return path
}

const run = (...more: string[]) => ['run', '--ops', 'add', '--sizes', '64,128,256', '--devices', 'python:cpu', '--modes', 'hot', '--preset', 'quick', '--json', ...more]

test('the command line lists Pythons with their packages and measures with the best one', async () => {
  const cli = new Cli()
  const env = { OPSCOPE_PYTHON_ONLY: [python('garbled', 'good', 'hello'), python('good', 'good')].join(delimiter) }
  const devices = JSON.parse((await cli.run(['devices', '--backends', 'python', '--json'], env)).out) as Device[]
  expect(devices.map(({ id, available }) => [id, available.ok || available.reason])).toEqual([['python:cpu', true], [expect.stringMatching(/^python:cpu@/), 'it did not answer as a Python does when asked for its packages']])
  expect(devices[0]!.interpreter).toMatchObject({ version: '3.12.1', packages: [{ name: 'torch', version: '2.5.1' }, { name: 'numpy', install: expect.stringMatching(/-m pip install numpy$/) }] })
  expect((await cli.run(['devices', '--backends', 'python'], env)).out).toContain(`3.12.1, torch 2.5.1, ${join(folder, 'good')}`)
  const { rows } = JSON.parse((await cli.run(run(), env)).out) as { rows: Row[] }
  expect(rows.map((row) => [row.case.impl, row.status])).toEqual(Array(3).fill(['torch', 'ok']))
})

test('a worker that dies costs its case and no other', async () => {
  const { status, out } = await new Cli().run(run(), { OPSCOPE_PYTHON_ONLY: python('dying', 'die') })
  const { rows } = JSON.parse(out) as { rows: Row[] }
  expect(rows.map((row) => [row.status, row.message])).toEqual([['failed', 'the Python worker was killed (SIGKILL)'], ['ok', undefined], ['ok', undefined]])
  expect(status).toBe(1)
})

test('the backends are listed with each Python, its packages, and the command that installs what is missing', async () => {
  const cli = new Cli()
  const env = { OPSCOPE_PYTHON_ONLY: [python('listed', 'good'), join(folder, 'gone')].join(delimiter) }
  const { out } = await cli.run(['list', 'backends', '--backends', 'python'], env)
  expect(out).toMatch(/^python +yes/m)
  expect(out).toContain(`Python 3.12.1, ${join(folder, 'listed')} (settings): used\n  torch  2.5.1\n  numpy  not installed; install it with: ${join(folder, 'listed')} -m pip install numpy\n`)
  expect(out).toContain(`${join(folder, 'gone')} (settings): there is no program at ${join(folder, 'gone')}`)
  const [backend] = JSON.parse((await cli.run(['list', 'backends', '--backends', 'python', '--json'], env)).out) as [{ pythons: { path: string; used: boolean }[] }]
  expect(backend.pythons.map(({ path, used }) => [path, used])).toEqual([[join(folder, 'listed'), true], [join(folder, 'gone'), false]])
  expect((await cli.run(['run', '--help'])).out).toMatch(/--backends <list> +cpu, cuda, webgpu, python/)
})

test('without any Python the backend is listed with what would help', async () => {
  const { out } = await new Cli().run(['list', 'backends', '--backends', 'python'])
  expect(out).toMatch(/^python +no +no Python was found: install one/m)
})

let opened: Launched | undefined
afterEach(async () => {
  await opened?.close()
  opened = undefined
})

test('the app has them as devices, and others as soon as the user chooses others', async () => {
  const [a, b] = [python('a', 'good'), python('b', 'good')]
  opened = await launch({ env: { OPSCOPE_PYTHON_ONLY: [a, b].join(delimiter) } })
  const { page } = opened
  const listed = () =>
    page.evaluate(async () => {
      const reply = await (Reflect.get(window, 'opscope') as OpscopeApi).invoke('devices:list', { refresh: false })
      const devices = reply.ok ? reply.value.filter(({ backend }) => backend === 'python') : []
      return devices.map(({ id, interpreter, available }) => `${id} ${interpreter?.path.split('/').at(-1)} ${available.ok}`)
    })
  expect(await listed()).toEqual(['python:cpu a true', 'python:cpu@b b false'])
  await page.evaluate((chosen) => (Reflect.get(window, 'opscope') as OpscopeApi).invoke('settings:set', { python: { extra: [], chosen } }), [b, a])
  expect(await listed()).toEqual(['python:cpu b true', 'python:cpu@a a true'])
})

test('a Python is added by its path or in a dialog; what cannot be used is said, and changes nothing', async () => {
  const [typed, chosen] = [python('typed', 'good'), python('chosen', 'good')]
  opened = await launch()
  const { page, app } = opened
  const extra = () => page.evaluate(async () => {
    const reply = await (Reflect.get(window, 'opscope') as OpscopeApi).invoke('settings:get', undefined)
    return reply.ok ? reply.value.python?.extra : reply.error.message
  })
  await view(page, 'Settings')
  await answerMessages(app, 1)
  const field = page.getByRole('textbox', { name: 'Path of another Python' })
  const add = async (path: string) => {
    await field.fill(path)
    await page.getByRole('button', { name: 'Add', exact: true }).click()
  }
  for (const [path, message] of [[join(folder, 'nothing here'), /There is nothing at .*nothing here/], [folder, /holds no Python/], [process.execPath, /is not a Python: asked for its version/]] as const) {
    await add(path)
    await page.getByRole('alert').filter({ hasText: message }).waitFor()
    expect([await field.inputValue(), await extra()]).toEqual([path, undefined])
  }
  await answerMessages(app, 0)
  await add(typed)
  await expect.poll(() => app.evaluate(() => (Reflect.get(globalThis, 'counts') as { asked: number }).asked)).toBe(1)
  await expect.poll(() => page.getByRole('button', { name: 'Add', exact: true }).isEnabled()).toBe(true)
  expect([await field.inputValue(), await extra()]).toEqual([typed, undefined])
  await answerMessages(app, 1)
  await add(typed)
  await expect.poll(extra).toEqual([typed])
  await app.evaluate(({ dialog }, path) => (dialog.showOpenDialog = (() => Promise.resolve({ canceled: false, filePaths: [path] })) as typeof dialog.showOpenDialog), chosen)
  await page.getByRole('button', { name: 'Choose…' }).click()
  await expect.poll(extra).toEqual([typed, chosen])
  // The page can name no program that is not there, whatever it sends.
  const refused = await page.evaluate((path) => (Reflect.get(window, 'opscope') as OpscopeApi).invoke('settings:set', { python: { extra: [path] } }), join(folder, 'nothing here'))
  expect(refused).toMatchObject({ ok: false, error: { code: 'refused' } })
  expect(await extra()).toEqual([typed, chosen])
})

test('the window measures with a Python as with any device', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'opscope-e2e-'))
  leavePicks(dataDir, { ...scripted(['torch']), targets: [{ backend: 'python', device: 'python:cpu', impls: ['torch'] }] })
  opened = await launch({ dataDir, env: { OPSCOPE_PYTHON_ONLY: python('window', 'chatty') } })
  expect(await runToEnd(opened.page)).toContain('3 results')
  await expect.poll(async () => (await tableRows(opened!.page)).map((row) => row['status'])).toEqual(['ok', 'ok', 'ok'])
})

/** The Python that a distribution brings, where it has both libraries. */
const REAL = process.env['OPSCOPE_TEST_PYTHON'] ?? '/usr/bin/python3'
const hasBoth = spawnSync(REAL, ['-c', 'import numpy, torch']).status === 0

test.skipIf(!hasBoth)('NumPy and PyTorch beside our own kernels: run, and see how far PyTorch is', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'opscope-e2e-'))
  const python = { backend: 'python', device: 'python:cpu', impls: ['numpy', 'torch'], threads: [1] }
  leavePicks(dataDir, { ...scripted([]), ops: [{ op: 'add' }, { op: 'exp' }], sizes: { vector: '4096, 65536', matrix: '64', gemm: '64' }, targets: [{ backend: 'cpu', device: 'cpu', impls: ['scalar'], threads: [1] }, python] })
  opened = await launch({ dataDir, env: { OPSCOPE_PYTHON_ONLY: REAL } })
  const { page } = opened
  expect(await runToEnd(page)).toContain('12 results')
  await expect.poll(async () => (await tableRows(page)).map((row) => row['status'])).toEqual(Array(12).fill('ok'))
  for (const row of await tableRows(page)) expect(row['speedup']).toMatch(row['backend']!.includes('torch') ? /^–$/ : /^\d/)
  await page.getByRole('tab', { name: 'Speedup' }).click()
  await expect.poll(() => page.getByRole('combobox', { name: 'Baseline' }).locator('option:checked').textContent()).toBe('over PyTorch (automatic)')
  await expect.poll(() => coloursDrawn(page)).toBeGreaterThan(4)
  await grid(page).getByText('python torch').first().click()
  await page.keyboard.press('Enter')
  await details(page).getByText(/^1\.|^2\./).first().waitFor()
  await expect.poll(() => details(page).innerText()).toMatch(/PyTorch\s+\d+\.\d+/)
}, 150_000)
