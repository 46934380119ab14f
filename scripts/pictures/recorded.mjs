import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { energyFile } from '../../test/e2e/energy-session.ts'
import { launch } from '../../test/e2e/launch.ts'

export const RESULTS = resolve(import.meta.dirname, '../../test/bench/results')

/** A recorded session of test/bench/results as a file that the app opens. */
export function recordedFile(folder, path) {
  const file = join(folder, `${path.replaceAll('/', '-')}.opscope.json`)
  writeFileSync(file, gunzipSync(readFileSync(join(RESULTS, `${path}.session.json.gz`))))
  return file
}

export const view = (page, name) => page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name }).click()
export const goTo = (page, hash) => page.evaluate((next) => void (globalThis.location.hash = next), hash)
/** Ids of the sessions of the history. */
export const sessionIds = (page) => page.evaluate(async () => (await globalThis.opscope.invoke('sessions:list', { search: '', deleted: false })).value.map(({ id }) => id))
const row = (page, name) => page.getByRole('grid', { name: 'Sessions' }).getByRole('row').filter({ hasText: name })

/** Opens a session of the history by its name. */
async function session(page, name) {
  await view(page, 'History')
  await row(page, name).first().dblclick()
  await page.getByTestId('chart-tab-time').waitFor()
  await page.getByText(/^[\d,]+ rows/).first().waitFor()
}
/** Shows a chart, whether its tab has room or stands in the menu. */
async function chart(page, id) {
  const tab = page.getByTestId(`chart-tab-${id}`)
  if (await tab.isVisible()) return tab.click()
  await page.getByTestId('chart-tabs-more').click()
  await page.getByTestId(`chart-menu-${id}`).click()
}
async function within(page, name) {
  await session(page, name)
  await page.getByRole('button', { name: 'Compare inside this session' }).click()
  await page.getByRole('table', { name: 'Comparison by case' }).waitFor({ timeout: 120_000 })
}
async function firstRow(page, ...keys) {
  await session(page, 'All operations')
  await page.getByRole('grid', { name: 'Results' }).focus()
  for (const key of ['ArrowDown', ...keys]) await page.keyboard.press(key)
}
const [APP, PYTHON] = ['All operations', 'Beside PyTorch']
const CHARTS = ['time', 'throughput', 'distribution', 'speedup', 'heat-map', 'crossover', 'scaling', 'parallel']

/** Every view with the two sessions that were measured on an H200, and the bench of energy. */
export const recorded = {
  settleMs: 900,
  async start() {
    const dataDir = mkdtempSync(join(tmpdir(), 'opscope-pictures-'))
    const files = ['app', 'python'].map((name) => {
      const path = join(dataDir, `${name}.opscope.json`)
      writeFileSync(path, gunzipSync(readFileSync(join(RESULTS, `${name}-session.json.gz`))))
      return path
    })
    const opened = await launch({ dataDir, args: [...files, energyFile(dataDir)], env: { OPSCOPE_WEBGPU: 'hardware' } })
    for (let i = 0; i < 600 && (await sessionIds(opened.page)).length < 3; i++) await opened.page.waitForTimeout(200)
    return opened
  },
  views: {
    'view-history': ({ page }) => view(page, 'History'),
    'view-session': ({ page }) => session(page, APP),
    'view-roofline': async ({ page }) => (await session(page, APP), await chart(page, 'roofline')),
    'view-compare': ({ page }) => within(page, PYTHON),
    'view-compare-open': ({ page }) => page.getByRole('button', { name: 'Expand all' }).first().click(),
    'view-compare-slower': async ({ page }) => (await within(page, PYTHON), await page.getByRole('button', { name: /^Slower cases/ }).click()),
    'view-compare-sessions': async ({ page }) => {
      // Without that of the energy, which has one case in common with them.
      await goTo(page, `#/compare?ids=${(await sessionIds(page)).slice(-2).join(',')}`)
      await page.getByRole('table', { name: 'Comparison by case' }).waitFor({ timeout: 120_000 })
    },
    ...Object.fromEntries(CHARTS.flatMap((id) => [['app', APP], ['python', PYTHON]].map(([key, name]) => [`chart-${id}-${key}`, async ({ page }) => (await session(page, name), await chart(page, id))]))),
    'chart-energy': async ({ page }) => (await session(page, 'Energy of matmul'), await chart(page, 'energy')),
    'chart-as-table': async ({ page }) => (await session(page, APP), await chart(page, 'time'), await page.getByRole('region', { name: 'Charts' }).getByRole('button', { name: 'Table', exact: true }).click()),
    'view-fastest': async ({ page }) => (await page.reload(), await session(page, PYTHON), await page.getByRole('button', { name: 'By operation' }).first().click()),
    'view-findings': async ({ page }) => (await page.keyboard.press('Escape'), await session(page, PYTHON), await page.getByTestId('findings-button').click()),
    'view-environment': async ({ page }) => (await session(page, PYTHON), await page.getByRole('button', { name: 'Environment' }).first().click()),
    'view-details': async ({ page }) => (await page.keyboard.press('Escape'), await firstRow(page, 'Enter')),
    'view-export': async ({ page }) => (await session(page, APP), await page.keyboard.press('Control+s')),
    'view-columns': async ({ page }) => (await page.keyboard.press('Escape'), await page.getByRole('button', { name: /columns/i }).first().click()),
    'view-case': async ({ page }) => (await page.keyboard.press('Escape'), await firstRow(page, 'Control+Shift+H')),
    'view-licences': ({ page }) => goTo(page, '#/licences'),
    'view-fleet': ({ page }) => goTo(page, '#/fleet'),
    'view-devices': ({ page }) => view(page, 'Devices'),
    'view-run': ({ page }) => view(page, 'Run'),
    'view-suites': ({ page }) => goTo(page, '#/suites'),
    'view-guide': ({ page }) => view(page, 'Guide'),
    'view-settings': ({ page }) => view(page, 'Settings'),
  },
}
