import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { violations } from './axe'
import { ENERGY_SESSION, energyFile } from './energy-session'
import { launch, SOFTWARE_GPU, type Launched } from './launch'
import { dataRows, details, endOf, grid, leavePicks, scripted, sessions, showChart, view } from './ui'

const dataDir = mkdtempSync(join(tmpdir(), 'opscope-accessibility-'))
const RECORDED = resolve(import.meta.dirname, '../bench/results/app-session.json.gz')
let opened: Launched
let page: Page

beforeAll(async () => {
  const file = join(dataDir, 'recorded.opscope.json')
  leavePicks(dataDir, scripted(['steady', 'noisy', 'zeros']))
  writeFileSync(file, gunzipSync(readFileSync(RECORDED)))
  opened = await launch({ dataDir, args: [file], env: { OPSCOPE_TEST_BACKEND: '1', ...SOFTWARE_GPU } })
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
const chartPlace = () => page.getByRole('region', { name: 'Charts' }).getByTestId('chart')

/** No violation in what a button opens, which is closed again. */
async function cleanOpened(button: string | RegExp, shows: string): Promise<void> {
  await page.getByRole('button', { name: button }).first().click()
  await page.getByRole('dialog').getByText(shows).first().waitFor()
  await clean()
  await close()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
}

/** No violation in a chart, drawn and as a table. */
async function cleanChart(id: string): Promise<void> {
  await showChart(page, id)
  const chart = page.getByRole('region', { name: 'Charts' })
  // A chart is drawn, or says what is missing.
  await chartPlace().getByRole('img').or(chartPlace().getByTestId('chart-empty')).first().waitFor()
  await clean()
  if (await chartPlace().getByTestId('chart-empty').isVisible()) return
  await expect.poll(() => chartPlace().getByRole('img').first().getAttribute('aria-label')).toMatch(/^[A-Z].+: .+\. [\d,]+ results? of .+\.$/)
  const table = chart.getByRole('button', { name: 'Table', exact: true })
  await table.click()
  await expect.poll(() => chart.getByTestId('chart-data').getByRole('row').count()).toBeGreaterThan(1)
  await clean()
  await table.click()
}

describe('a recorded session', () => {
  it('stands in the session view with its charts', async () => {
    await page.getByRole('button', { name: 'Compare inside this session' }).waitFor()
    await page.getByText('510 rows', { exact: true }).waitFor()
    await page.getByTestId('session-answer').waitFor()
    await clean()
  })

  it.each(['throughput', 'roofline', 'speedup', 'heat-map', 'scaling', 'crossover', 'parallel', 'distribution'])('has the chart %s', cleanChart)

  it('has findings, details of a row, and menus', async () => {
    const findings = page.getByTestId('findings')
    await page.getByTestId('findings-button').click()
    await findings.getByRole('listitem').first().waitFor()
    await clean()
    await page.getByTestId('findings-button').click()
    await findings.waitFor({ state: 'detached' })
    await grid(page).focus()
    await page.keyboard.press('Home')
    await page.keyboard.press('Enter')
    await details(page).getByRole('heading', { name: 'Statistics' }).waitFor()
    await clean()
    await page.getByRole('button', { name: 'Close details (Esc)' }).click()
    await details(page).waitFor({ state: 'detached' })
    await cleanOpened('Notes', 'Notes')
    await page.getByRole('button', { name: 'Environment' }).first().click()
    await page.getByTestId('environment').waitFor()
    await clean()
    await close()
    for (const [button, opens] of [[/columns/i, 'Columns'], [/choose the baseline/i, 'Speedup over'], [/^Views$/, 'Saved views']] as const) await cleanOpened(button, opens)
    await dataRows(grid(page)).first().click({ button: 'right' })
    await page.getByRole('menu', { name: 'Selected rows' }).waitFor()
    await clean()
    await close()
    await page.getByRole('menu', { name: 'Selected rows' }).waitFor({ state: 'detached' })
  })
})

describe('views', () => {
  it('run, with picks, a wrong size, and a run that goes on and ends', async () => {
    await view(page, 'Run')
    await page.getByTestId('sweep-summary').waitFor()
    await clean()
    const sizes = page.getByRole('textbox', { name: /^Vector|elements/i }).first()
    const before = await sizes.inputValue()
    await sizes.fill('1024..')
    await expect.poll(() => sizes.getAttribute('aria-invalid')).toBe('true')
    await clean()
    await sizes.fill(before)
    await expect.poll(() => sizes.getAttribute('aria-invalid')).not.toBe('true')
    await endOf(page, () => page.getByRole('button', { name: /^Run/ }).click())
    await expect.poll(() => dataRows(grid(page)).count()).toBeGreaterThan(5)
    await clean()
  })

  it('compare: empty, inside a session, with details and regressions, and between two', async () => {
    await view(page, 'Compare')
    await page.getByText('Compare sessions', { exact: true }).waitFor()
    await clean()
    await view(page, 'History')
    await expect.poll(() => dataRows(sessions(page)).count()).toBe(2)
    await dataRows(sessions(page)).nth(1).dblclick()
    await page.getByRole('button', { name: 'Compare inside this session' }).click()
    const table = page.getByRole('table', { name: 'Comparison by case' })
    await table.waitFor()
    await expect.poll(() => dataRows(table).count()).toBeGreaterThan(1)
    await clean()
    await table.focus()
    await page.keyboard.press('ArrowDown')
    await page.getByRole('region', { name: 'Details of the comparison' }).waitFor()
    await page.getByRole('button', { name: /^Slower cases/ }).click()
    await page.getByText('Thresholds per operation').waitFor()
    await clean()
    await page.getByRole('combobox', { name: 'Group by' }).selectOption('op')
    await table.locator('[role=row]:has([aria-expanded])').first().waitFor()
    await clean()
    await view(page, 'History')
    await expect.poll(() => dataRows(sessions(page)).count()).toBe(2)
    await dataRows(sessions(page)).nth(0).click()
    await dataRows(sessions(page)).nth(1).click({ modifiers: ['Control'] })
    await page.getByText('2 of 2 selected').waitFor()
    await clean()
    await cleanOpened('Baselines', 'Pinned baselines')
    await page.getByRole('button', { name: /to compare them|Compare the selected/ }).click()
    await page.getByText(/not compared/).first().waitFor()
    await clean()
  })

  it.each([['licences', 'Licences'], ['suites', 'Suites'], ['fleet', 'No NATS server is set'], ['capture', 'Shapes from a script']])('%s', async (hash, heading) => {
    await page.evaluate((next) => (location.hash = `#/${next}`), hash)
    await page.getByRole('heading', { name: heading, exact: true }).waitFor()
    await clean()
  })

  it.each([
    ['History', () => dataRows(sessions(page)).nth(1)],
    ['Devices', () => page.getByRole('article', { name: /^fake / })],
    ['Settings', () => page.getByRole('heading', { name: 'Thoroughness' })],
    ['Guide', () => page.getByRole('heading', { name: 'Guide', level: 1 })],
  ])('%s', async (name, last) => {
    await view(page, name)
    await last().waitFor()
    await clean()
  })

  it('a case through all sessions', async () => {
    await view(page, 'History')
    await dataRows(sessions(page)).first().dblclick()
    await page.getByText('9 rows', { exact: true }).waitFor()
    await dataRows(grid(page)).first().click({ button: 'right' })
    await page.getByRole('menuitem', { name: /Show this case/ }).click()
    await page.getByTestId('case-verdict').waitFor()
    await page.getByRole('table', { name: 'Sessions of this case' }).locator('tbody tr').first().waitFor()
    await clean()
  })
})

describe('dialogs', () => {
  it('the command palette and the shortcuts', async () => {
    await page.keyboard.press('Control+k')
    const palette = page.getByRole('dialog', { name: 'Command palette' })
    await palette.getByRole('option').first().waitFor()
    await clean()
    await close()
    await palette.waitFor({ state: 'detached' })
    await page.keyboard.press('Control+/')
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor()
    await clean()
    await close()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
  })

  it('the export of a session, and a fault of the app', async () => {
    await view(page, 'Session')
    await page.getByRole('button', { name: 'Export…' }).first().click()
    await page.getByRole('dialog').waitFor()
    await clean()
    await close()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await opened.app.evaluate(() => void process.emit('uncaughtException', new Error('something of ours broke')))
    await page.getByRole('dialog', { name: 'Opscope had an internal error' }).waitFor()
    await clean()
    await close()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
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
    await chartPlace().getByRole('img').waitFor()
    expect(await chartPlace().getByTestId('chart-empty').count()).toBe(0)
  })
})
