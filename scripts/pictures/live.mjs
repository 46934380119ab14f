import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { launch } from '../../test/e2e/launch.ts'
import { details, ended, grid, dataRows, leavePicks, rowCount, scripted, sessions } from '../../test/e2e/ui.ts'
import { goTo, view } from './recorded.mjs'

const runButton = (page) => page.getByRole('button', { name: /^Run/ }).first()
async function picks(page, impls, vector) {
  await page.evaluate((sweep) => globalThis.opscope.invoke('settings:set', { sweep }), scripted(impls, vector))
  await page.reload()
  await view(page, 'Run')
  await runButton(page).waitFor()
}

/** One part of the picks, where there is room for one. */
const part = async (page, name) => (await view(page, 'Run'), await page.getByRole('group', { name: 'Part of the picks', includeHidden: true }).getByRole('button', { name, includeHidden: true }).dispatchEvent('click'))

/** What a run looks like, on a backend whose results are scripted: begun, stopped, with failures; and the dialogs. */
export const live = {
  settleMs: 500,
  inOrder: true,
  messages: /toast/,
  async start() {
    const dataDir = mkdtempSync(join(tmpdir(), 'opscope-pictures-'))
    leavePicks(dataDir, scripted(['slow', 'steady', 'noisy', 'throttled']))
    return launch({ dataDir, env: { OPSCOPE_TEST_BACKEND: '1' } })
  },
  views: {
    'run-wrong-size': async ({ page }) => {
      await view(page, 'Run')
      await page.getByRole('textbox', { name: /^Vector|elements/i }).first().fill('1024..')
    },
    'run-sizes': ({ page }) => part(page, 'Sizes'),
    'run-measurement': ({ page }) => part(page, 'Measurement'),
    'run-going': async ({ page }) => {
      await picks(page, ['slow', 'steady', 'noisy', 'throttled'], '64..65536 x2')
      await runButton(page).click()
      for (let i = 0; i < 200 && (await rowCount(page)) < 12; i++) await page.waitForTimeout(200)
    },
    'run-going-session': ({ page }) => view(page, 'History'),
    'run-stopped': async ({ page }) => {
      await view(page, 'Run')
      await page.getByRole('button', { name: 'Stop' }).first().click()
      await ended(page)
    },
    'run-failures': async ({ page }) => {
      await picks(page, ['steady', 'zeros', 'fail', 'oom', 'lower'], '64, 1024')
      await runButton(page).click()
      await ended(page)
    },
    'run-failed-details': async ({ page }) => {
      await dataRows(grid(page)).filter({ hasText: 'oom' }).first().click()
      await page.keyboard.press('Enter')
      await details(page).waitFor()
    },
    'history-filled': ({ page }) => view(page, 'History'),
    'compare-empty': ({ page }) => view(page, 'Compare'),
    'compare-two': async ({ page }) => {
      await view(page, 'History')
      await dataRows(sessions(page)).nth(0).click()
      await dataRows(sessions(page)).nth(1).click({ modifiers: ['Control'] })
      await page.getByRole('button', { name: /to compare them|Compare the selected/ }).click()
      await page.getByText(/not compared/).first().waitFor()
    },
    'dialog-export': async ({ page }) => {
      await view(page, 'History')
      await dataRows(sessions(page)).first().dblclick()
      await page.getByRole('button', { name: 'Export…' }).first().click()
    },
    'dialog-commands': async ({ page }) => (await page.keyboard.press('Escape'), await page.keyboard.press('Control+k'), await page.getByRole('dialog', { name: 'Command palette' }).waitFor()),
    'dialog-shortcuts': async ({ page }) => (await page.keyboard.press('Escape'), await page.waitForTimeout(300), await page.keyboard.press('Control+/'), await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor()),
    'dialog-fault': async ({ page }) => (await page.keyboard.press('Escape'), await page.evaluate(() => globalThis.opscope.invoke('fault:page', { message: 'Cannot read the legend of a chart', stack: 'at draw' }))),
    'toast-deleted': async ({ page }) => {
      await page.keyboard.press('Escape')
      await view(page, 'History')
      await dataRows(sessions(page)).first().click()
      await page.keyboard.press('Delete')
    },
    'suites-live': ({ page }) => goTo(page, '#/suites'),
  },
}
