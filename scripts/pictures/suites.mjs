import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { launch } from '../../test/e2e/launch.ts'
import { goTo, recordedFile, RESULTS, sessionIds, view } from './recorded.mjs'

const RECORDED = ['comprehensive', 'genesis', 'performance-guide', 'tenflowers', 'transformer-block', 'trueno']

/** Ids of the sessions by the name of their file. */
const ids = new Map()
/** Opens the report of a recorded session. */
const report = (name) => async ({ page }) => {
  await goTo(page, `#/suite/${ids.get(name)}`)
  await page.getByRole('region', { name: /^Report of/ }).getByRole('heading').first().waitFor()
}

/** The reports of the suites that were measured, and what a script was captured to call. */
export const suites = {
  settleMs: 900,
  async start() {
    const dataDir = mkdtempSync(join(tmpdir(), 'opscope-pictures-'))
    const files = RECORDED.map((name) => recordedFile(dataDir, `suites/${name}`))
    const opened = await launch({ dataDir, env: { OPSCOPE_WEBGPU: 'hardware' } })
    const { app, page } = opened
    const listed = () => sessionIds(page)
    await view(page, 'History')
    for (const [i, file] of files.entries()) {
      const before = await listed()
      await app.evaluate(({ dialog }, path) => void (dialog.showOpenDialog = () => Promise.resolve({ canceled: false, filePaths: [path] })), file)
      await page.getByRole('button', { name: 'Import…' }).click()
      for (let tries = 0; tries < 300 && (await listed()).length === before.length; tries++) await page.waitForTimeout(200)
      ids.set(RECORDED[i], (await listed()).find((id) => !before.includes(id)))
      await view(page, 'History')
    }
    return opened
  },
  views: {
    ...Object.fromEntries(RECORDED.map((name) => [`suite-${name}`, report(name)])),
    'suite-parts': async ({ page }) => {
      await report('transformer-block')({ page })
      await page.getByRole('navigation', { name: 'Parts of the report' }).getByRole('button').last().click()
    },
    'view-capture-filled': async ({ app, page }) => {
      await view(page, 'History')
      await app.evaluate(({ dialog }, path) => void (dialog.showOpenDialog = () => Promise.resolve({ canceled: false, filePaths: [path] })), join(RESULTS, 'suites', 'bert.sweep.json'))
      await page.getByRole('button', { name: 'Import…' }).click()
      await page.getByRole('region', { name: 'In the catalogue', exact: true }).waitFor()
    },
    'view-history-suites': ({ page }) => view(page, 'History'),
  },
}
