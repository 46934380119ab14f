import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { violations } from './axe'
import { launch, type Launched } from './launch'
import { leavePicks, rowCount, scripted } from './ui'

const PYTHON = process.env['OPSCOPE_TEST_PYTHON'] ?? '/usr/bin/python3'
const hasTorch = spawnSync(PYTHON, ['-c', 'import numpy, torch.utils._python_dispatch']).status === 0
const folder = mkdtempSync(join(tmpdir(), 'opscope-app-capture-'))
let opened: Launched
let page: Page

const answer = (path: string) => opened.app.evaluate(({ dialog }, file) => void (dialog.showOpenDialog = (() => Promise.resolve({ canceled: false, filePaths: [file] })) as typeof dialog.showOpenDialog), path)
const region = (name: string) => page.getByRole('region', { name, exact: true })

// Without PyTorch there is nothing to capture; main/ipc/handlers/capture.test.ts plays the program.
describe.skipIf(!hasTorch)(`shapes of a script in the window, with ${PYTHON}, which needs PyTorch`, () => {
  beforeAll(async () => {
    leavePicks(join(folder, 'data'), { ...scripted([]), targets: [{ backend: 'cpu', device: 'cpu', impls: ['scalar'], threads: [1] }] })
    opened = await launch({ dataDir: join(folder, 'data'), env: { OPSCOPE_PYTHON_ONLY: PYTHON } })
    page = opened.page
  })
  afterAll(async () => {
    await opened.close()
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 })
  })

  it('lists what a script called, and what is outside the catalogue', async () => {
    await answer(resolve(import.meta.dirname, '../fixtures/capture/encoder.py'))
    const choose = page.getByRole('button', { name: 'Choose a script and run it…' })
    // The app may still be going where it was left.
    await expect.poll(async () => {
      await page.evaluate(() => void (location.hash = '#/capture'))
      return choose.isVisible()
    }, { timeout: 60_000 }).toBe(true)
    await choose.click()
    await region('In the catalogue').getByRole('row', { name: 'layer_norm 32x64 f32 2' }).waitFor({ timeout: 60_000 })
    await region('Outside the catalogue').getByRole('row', { name: /aten\.special_bessel_j0\.default no such operation 1/ }).waitFor()
    await page.getByText('Output of the script').click()
    await page.getByText('loss True').waitFor()
    expect(await violations(page)).toEqual([])
  }, 120_000)

  it('shows the error of a script with its output, and measures what it called until then', async () => {
    const failing = join(folder, 'failing.py')
    writeFileSync(failing, 'import torch\nx = torch.zeros(4, 8)\nx.softmax(-1)\nx.relu()\nraise ValueError("no data")\n')
    await answer(failing)
    await page.getByRole('button', { name: 'Choose a script and run it…' }).click()
    await page.getByRole('alert').getByText('The script ended with an error: ValueError: no data What it called until then is below.').waitFor({ timeout: 60_000 })
    await page.getByText(/Traceback/).waitFor()
    await page.getByRole('button', { name: 'Run 2 captured cases' }).click()
    await expect.poll(() => rowCount(page), { timeout: 60_000 }).toBe(2)
    expect(opened.pageErrors).toEqual([])
  }, 120_000)
})
