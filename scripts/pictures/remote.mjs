import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { launch } from '../../test/e2e/launch.ts'
import { view } from '../../test/e2e/ui.ts'
import { load } from './fleet.mjs'

/** A machine that ssh reaches, beside this one. Needs openssh-server. */
export const remote = {
  settleMs: 800,
  inOrder: true,
  async start() {
    const { SshBox } = await load('test/servers/sshd.ts')
    const box = await SshBox.start()
    let opened
    try {
      opened = await launch({ dataDir: mkdtempSync(join(tmpdir(), 'opscope-pictures-')), env: { ...box.env(), OPSCOPE_TEST_BACKEND: '1' } })
      await opened.app.evaluate(({ dialog }) => {
        dialog.showMessageBox = () => Promise.resolve({ response: 1, checkboxChecked: false })
      })
      await view(opened.page, 'Devices')
    } catch (error) {
      box.stop()
      throw error
    }
    return {
      ...opened,
      async close() {
        await opened.close()
        box.stop()
      },
    }
  },
  views: {
    'remote-devices': async ({ page }) => {
      await page.getByRole('textbox', { name: /^Remote machine/ }).fill('gpubox')
      await page.getByRole('button', { name: 'Add remote' }).click()
      await page.getByRole('article', { name: /^cpu / }).nth(1).getByRole('status').waitFor({ timeout: 60_000 })
      await page.getByText('gpubox/cpu').scrollIntoViewIfNeeded()
    },
    'remote-list': ({ page }) => page.getByRole('list', { name: 'Remote machines' }).scrollIntoViewIfNeeded(),
    'remote-refused': async ({ page }) => {
      await page.getByRole('textbox', { name: /^Remote machine/ }).fill('me@nowhere.invalid')
      await page.getByRole('button', { name: 'Add remote' }).click()
      await page.getByRole('alert').waitFor({ timeout: 30_000 })
    },
  },
}
