import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { violations } from './axe'
import { ENERGY_SESSION, energyFile } from './energy-session'
import { launch, type Launched } from './launch'
import { dataRows, details, ended, grid, leavePicks, scripted, sessions, view } from './ui'

const dataDir = mkdtempSync(join(tmpdir(), 'opscope-accessibility-'))
const RECORDED = resolve(import.meta.dirname, '../bench/results/app-session.json.gz')
let opened: Launched
let page: Page

beforeAll(async () => {
  const file = join(dataDir, 'recorded.opscope.json')
  leavePicks(dataDir, scripted(['steady', 'noisy', 'zeros']))
  writeFileSync(file, gunzipSync(readFileSync(RECORDED)))
  opened = await launch({ dataDir, args: [file], env: { OPSCOPE_TEST_BACKEND: '1' } })
  page = opened.page
})
afterAll(async () => {
  await opened.close()
  rmSync(dataDir, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 })
})

/** No violation in the state of the page, in either theme. */
async function clean(): Promise<void> {
  const theme = await page.evaluate(() => document.documentElement.dataset['theme'] ?? '')
  const other = theme === 'dark' ? 'light' : 'dark'
  const found = await violations(page)
  await page.evaluate((next) => void (document.documentElement.dataset['theme'] = next), other)
  // Only colours depend on the theme.
  const inOther = await violations(page, ['color-contrast'])
  await page.evaluate((next) => void (document.documentElement.dataset['theme'] = next), theme)
  expect([...found, ...inOther.map((text) => `${other}: ${text}`)]).toEqual([])
}
const close = () => page.keyboard.press('Escape')

/** No violation in a chart, drawn and as a table. */
async function cleanChart(id: string): Promise<void> {
  const tab = page.getByTestId(`chart-tab-${id}`)
  if (await tab.isVisible()) await tab.click()
  else {
    await page.getByTestId('chart-tabs-more').click()
    await page.getByTestId(`chart-menu-${id}`).click()
  }
  const chart = page.getByRole('region', { name: 'Charts' })
  await clean()
  if (await page.getByTestId('chart-empty').isVisible()) return
  expect(await chart.getByRole('img').first().getAttribute('aria-label')).toMatch(/^[A-Z].+: .+\. [\d,]+ results? of .+\.$/)
  const table = chart.getByRole('button', { name: 'Table', exact: true })
  await table.click()
  await expect.poll(() => chart.getByTestId('chart-data').getByRole('row').count()).toBeGreaterThan(1)
  await clean()
  await table.click()
}

describe('a recorded session', () => {
  it('stands in the session view with its charts', async () => {
    await page.getByRole('button', { name: 'Compare inside this session' }).waitFor({ timeout: 60_000 })
    await clean()
  })

  it.each(['throughput', 'roofline', 'speedup', 'heat-map', 'scaling', 'crossover', 'parallel', 'distribution'])('has the chart %s', cleanChart)

  it('has findings, details of a row, and menus', async () => {
    await page.getByTestId('findings-button').click()
    await clean()
    await page.getByTestId('findings-button').click()
    await grid(page).focus()
    await page.keyboard.press('Home')
    await page.keyboard.press('Enter')
    await details(page).waitFor()
    await clean()
    await close()
    for (const name of ['Notes', 'Environment']) {
      await page.getByRole('button', { name }).first().click()
      await clean()
      await close()
    }
    for (const name of [/columns/i, /choose the baseline/i, /^Views$/]) {
      await page.getByRole('button', { name }).first().click()
      await clean()
      await close()
    }
    await dataRows(grid(page)).first().click({ button: 'right' })
    await clean()
    await close()
  })
})

describe('views', () => {
  it('run, with picks, a wrong size, and a run that goes on and ends', async () => {
    await view(page, 'Run')
    await clean()
    const sizes = page.getByRole('textbox', { name: /^Vector|elements/i }).first()
    const before = await sizes.inputValue()
    await sizes.fill('1024..')
    await clean()
    await sizes.fill(before)
    await page.getByRole('button', { name: /^Run/ }).click()
    await ended(page)
    await clean()
  })

  it('compare: empty, inside a session, with details and regressions, and between two', async () => {
    await view(page, 'Compare')
    await clean()
    await view(page, 'History')
    await dataRows(sessions(page)).nth(1).dblclick()
    await page.getByRole('button', { name: 'Compare inside this session' }).click()
    const table = page.getByRole('table', { name: 'Comparison by case' })
    await table.waitFor()
    await clean()
    await table.focus()
    await page.keyboard.press('ArrowDown')
    await page.getByRole('button', { name: /^Slower cases/ }).click()
    await clean()
    await page.getByRole('combobox', { name: 'Group by' }).selectOption('op')
    await clean()
    await view(page, 'History')
    await dataRows(sessions(page)).nth(0).click()
    await dataRows(sessions(page)).nth(1).click({ modifiers: ['Control'] })
    await clean()
    await page.getByRole('button', { name: 'Baselines' }).click()
    await clean()
    await close()
    await page.getByRole('button', { name: /to compare them|Compare the selected/ }).click()
    await page.getByText(/not compared/).first().waitFor()
    await clean()
  })

  it.each([['licences', 'Licences'], ['suites', 'Suites'], ['fleet', 'No NATS server is set'], ['capture', 'Shapes from a script']])('%s', async (hash, heading) => {
    await page.evaluate((next) => (location.hash = `#/${next}`), hash)
    await page.getByRole('heading', { name: heading, exact: true }).waitFor()
    await clean()
  })

  it.each(['History', 'Devices', 'Settings', 'Guide'])('%s', async (name) => {
    await view(page, name)
    await page.waitForTimeout(400)
    await clean()
  })

  it('a case through all sessions', async () => {
    await view(page, 'History')
    await dataRows(sessions(page)).first().dblclick()
    await dataRows(grid(page)).first().click({ button: 'right' })
    await page.getByRole('menuitem', { name: /Show this case/ }).click()
    await page.waitForTimeout(600)
    await clean()
  })
})

describe('dialogs', () => {
  it('the command palette and the shortcuts', async () => {
    await page.keyboard.press('Control+k')
    await clean()
    await page.keyboard.press('Escape')
    await page.keyboard.press('Control+/')
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor()
    await clean()
    await close()
  })

  it('the export of a session, and a fault of the app', async () => {
    await view(page, 'Session')
    await page.getByRole('button', { name: 'Export…' }).first().click()
    await page.getByRole('dialog').waitFor()
    await clean()
    await close()
    await opened.app.evaluate(() => void process.emit('uncaughtException', new Error('something of ours broke')))
    await page.getByRole('dialog', { name: 'Opscope had an internal error' }).waitFor()
    await clean()
    await close()
  })
})

describe('a session with energy', () => {
  it('has the chart energy', async () => {
    const file = energyFile(dataDir)
    await opened.app.evaluate(({ dialog }, path) => void (dialog.showOpenDialog = (() => Promise.resolve({ canceled: false, filePaths: [path] })) as typeof dialog.showOpenDialog), file)
    await view(page, 'History')
    await page.getByRole('button', { name: 'Import…' }).click()
    await dataRows(sessions(page)).filter({ hasText: ENERGY_SESSION }).dblclick()
    await page.getByTestId('chart-tab-time').waitFor()
    await cleanChart('energy')
    expect(await page.getByTestId('chart-empty').isVisible()).toBe(false)
  })
})
