import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { launch, type Launched } from '../e2e/launch'
import { canNamespace, noSshd, SshBox } from './sshd'
import { answerMessages, ended, leavePicks, messages, tableRows, view } from '../e2e/ui'

let box: SshBox | undefined
let opened: Launched | undefined
let dataDir: string | undefined
afterEach(async () => {
  await opened?.close()
  box?.stop()
  if (dataDir) rmSync(dataDir, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 })
  box = opened = dataDir = undefined
})

describe.skipIf(noSshd !== undefined)(`a remote machine in the window${noSshd ? ` (skipped: ${noSshd})` : ''}`, () => {
  it('is added in Devices, picked in Run and measured on; a killed agent and a cut line cost the running case each; it is removed again', async () => {
    box = await SshBox.start({ namespaced: canNamespace })
    dataDir = mkdtempSync(join(tmpdir(), 'opscope-remote-'))
    leavePicks(dataDir, {
      ops: [{ op: 'add' }], sizes: { vector: '1000, 1001, 1002, 1003, 1004, 1005' }, dtypes: ['f32'], modes: ['hot'], preset: 'quick', measure: { rule: { id: 'fixed-time', seconds: 1.5 } },
      targets: [{ backend: 'cpu', device: 'gpubox/cpu', impls: ['scalar'], threads: [1] }],
    })
    opened = await launch({ dataDir, env: { ...box.env(), OPSCOPE_TEST_BACKEND: '1' } })
    const { app, page } = opened
    await view(page, 'Devices')
    const field = page.getByRole('textbox', { name: /^Remote machine/ })
    await field.fill('gpubox')
    await answerMessages(app, 0)
    await page.getByRole('button', { name: 'Add remote' }).click()
    await expect.poll(() => app.evaluate(() => (Reflect.get(globalThis, 'counts') as { asked: number }).asked)).toBe(1)
    await expect.poll(() => page.getByRole('button', { name: 'Add remote' }).isEnabled()).toBe(true)
    await expect.poll(() => field.inputValue()).toBe('gpubox')
    expect(await page.getByRole('list', { name: 'Remote machines' }).count()).toBe(0)

    await answerMessages(app, 1)
    await page.getByRole('button', { name: 'Add remote' }).click()
    const card = page.getByRole('article', { name: /^cpu / }).nth(1)
    await card.getByText('gpubox/cpu').waitFor({ timeout: 60_000 })
    // Without the addon the processor there cannot measure, and the card has the reason.
    await card.getByRole('status').getByText('idle').waitFor()
    expect(await card.innerText()).not.toContain('not available')

    await view(page, 'Run')
    const devices = page.getByRole('list', { name: 'Backends and devices' })
    const far = devices.getByRole('checkbox', { name: /^cpu .* on gpubox$/ })
    await devices.getByText(/^Looking for /).waitFor({ state: 'detached' })
    // Picked already where the picks of last time were still waiting for their device.
    if ((await far.getAttribute('aria-checked')) === 'false') await far.click()
    for (const other of await devices.getByRole('checkbox').all()) {
      const isFar = / on gpubox$/.test((await other.getAttribute('aria-label')) ?? '')
      if (!isFar && (await other.getAttribute('aria-checked')) !== 'false') await other.click()
    }
    await expect.poll(() => far.getAttribute('aria-checked')).not.toBe('false')
    await page.getByRole('button', { name: /^Run/ }).click()
    const count = async () => (await tableRows(page)).length
    await expect.poll(count, { timeout: 60_000 }).toBeGreaterThanOrEqual(1)
    const killed = await count()
    process.kill(box.agents()[0]!, 'SIGKILL')
    // The case that was running, and one after it.
    await expect.poll(count, { timeout: 60_000 }).toBeGreaterThanOrEqual(killed + 2)
    if (canNamespace) {
      box.link('down')
      await messages(page).getByText('The run waits for gpubox and goes on when it is back.').waitFor({ timeout: 60_000 })
      box.link('up')
    }
    expect(await ended(page)).toMatch(/^Finished/)
    await expect.poll(count).toBe(6)
    const rows = await tableRows(page)
    expect(rows.filter((row) => JSON.stringify(row).includes('crashed'))).toHaveLength(canNamespace ? 2 : 1)

    await view(page, 'Devices')
    await page.getByRole('button', { name: 'Remove gpubox' }).click()
    await page.getByText('gpubox/cpu').waitFor({ state: 'detached', timeout: 60_000 })
    expect(await messages(page).getByText(/could not/i).count()).toBe(0)
    expect(opened.pageErrors).toEqual([])
  })
})
