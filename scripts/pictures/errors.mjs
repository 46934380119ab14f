import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { launch } from '../../test/e2e/launch.ts'
import { goTo, view } from './recorded.mjs'

/** The first start with an empty history, and what is refused. */
export const errors = {
  settleMs: 700,
  messages: /error-import/,
  async start() {
    const dataDir = mkdtempSync(join(tmpdir(), 'opscope-pictures-'))
    writeFileSync(join(dataDir, 'broken.opscope.json'), '{ "schemaVersion": 1, "session": ')
    return launch({ dataDir, env: { OPSCOPE_WEBGPU: 'hardware' } })
  },
  views: {
    'first-start': ({ page }) => view(page, 'Run'),
    'empty-session': ({ page }) => view(page, 'Session'),
    'empty-history': ({ page }) => view(page, 'History'),
    'empty-compare': ({ page }) => view(page, 'Compare'),
    'empty-capture': ({ page }) => goTo(page, '#/capture'),
    'error-import': async ({ app, page, dataDir }) => {
      await view(page, 'History')
      await app.evaluate(({ dialog }, path) => void (dialog.showOpenDialog = () => Promise.resolve({ canceled: false, filePaths: [path] })), join(dataDir, 'broken.opscope.json'))
      await page.getByRole('button', { name: 'Import…' }).first().click()
    },
    'error-session': ({ page }) => goTo(page, '#/session/no-such-session'),
    'error-suite': ({ page }) => goTo(page, '#/suite/no-such-session'),
    'error-case': ({ page }) => goTo(page, '#/case?case=nothing'),
    'error-fleet': async ({ app, page }) => {
      // Main asks before it connects.
      await app.evaluate(({ dialog }) => void (dialog.showMessageBox = () => Promise.resolve({ response: 1, checkboxChecked: false })))
      await goTo(page, '#/fleet')
      await page.getByRole('textbox', { name: 'Server' }).fill('nats://127.0.0.1:1')
      await page.getByRole('button', { name: 'Connect' }).click()
      await page.getByRole('alert').getByText('cannot be used').waitFor({ timeout: 40_000 })
    },
  },
}
