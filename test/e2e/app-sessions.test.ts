import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { launch, type Launched } from './launch'
import { coloursDrawn, dataRows, details, dismissMessages, grid, leavePicks, messages, rowCount, runToEnd, scripted, sessions, showChart, statusBar, tableRows, view } from './ui'

const dataDir = mkdtempSync(join(tmpdir(), 'opscope-sessions-'))
let opened: Launched
let page: Page

async function start(env: Record<string, string> = {}): Promise<void> {
  opened = await launch({ dataDir, env: { OPSCOPE_TEST_BACKEND: '1', ...env } })
  page = opened.page
}

beforeAll(async () => {
  leavePicks(dataDir, scripted(['steady', 'noisy', 'zeros']))
  await start()
  expect(await runToEnd(page)).toBe('Finished: 9 results, 3 of them failed.')
  await opened.close()
})
afterAll(async () => {
  await opened.close()
  rmSync(dataDir, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 })
})

const sessionRow = (name: string) => dataRows(sessions(page)).filter({ hasText: name })

describe('a session on the next day', () => {
  it('is in the history, with what it held', async () => {
    await start({ OPSCOPE_TEST_FACTOR: '1.25' })
    await view(page, 'History')
    await expect.poll(() => dataRows(sessions(page)).count()).toBe(1)
    const cells = dataRows(sessions(page)).first().getByRole('gridcell')
    await expect.poll(async () => (await cells.allInnerTexts()).slice(2, 7)).toEqual(['complete, 3 failed', '9', '3', 'Scripted device', 'add'])
  })

  it('is renamed in place, tagged and given a note, and found by each', async () => {
    const row = dataRows(sessions(page)).first()
    await row.click()
    await page.keyboard.press('F2')
    const name = page.getByRole('textbox', { name: 'Name of the session' })
    await name.fill('never kept')
    await page.keyboard.press('Escape')
    await name.waitFor({ state: 'detached' })
    await page.keyboard.press('F2')
    await name.fill('Before the change')
    await page.keyboard.press('Enter')
    await sessionRow('Before the change').waitFor()
    await page.getByRole('button', { name: 'Tags and notes of Before the change' }).click()
    await page.getByLabel('Tags, separated by commas').fill('baseline, nightly, baseline')
    await page.getByLabel('Notes', { exact: true }).fill('fans at full speed')
    await page.getByRole('button', { name: 'Save' }).click()
    await expect.poll(() => dataRows(sessions(page)).first().innerText()).toMatch(/baseline\s+nightly\s+fans at full speed/)
    const search = page.getByRole('searchbox', { name: 'Search sessions' })
    for (const text of ['before the', 'nightly', 'full speed', 'scripted']) {
      await search.fill('no such thing')
      await page.getByText('No session found').waitFor()
      await search.fill(text)
      await expect.poll(() => dataRows(sessions(page)).count()).toBe(1)
    }
    await search.fill('no such thing')
    await page.getByText('No session found').waitFor()
    await page.getByRole('button', { name: 'Clear the search' }).click()
  })

  it('opens with its table: sorted, filtered, and with the reason beside what is wrong', async () => {
    await sessionRow('Before the change').dblclick()
    await expect.poll(() => rowCount(page)).toBe(9)
    const head = (id: string) => grid(page).locator(`[data-sort="${id}"]`)
    await head('median').click()
    const medians = async () => (await tableRows(page)).map((row) => Number(row['median'])).filter((value) => !Number.isNaN(value))
    // Zeros failed their verification and have no time.
    let up: number[] = []
    await expect.poll(async () => {
      up = await medians()
      return up.length === 6 && up.every((value, i) => i === 0 || value >= up[i - 1]!)
    }).toBe(true)
    await head('median').click()
    await expect.poll(async () => (await medians()).join()).toBe([...up].sort((a, b) => b - a).join())
    const filter = page.getByRole('searchbox', { name: 'Filter rows' })
    await filter.fill('verification')
    await page.getByText('3 of 9 rows').waitFor()
    await expect.poll(() => tableRows(page)).toEqual(Array(3).fill(expect.objectContaining({ backend: 'fake zeros', status: 'verification failed', verified: 'failed', bandwidth: '–', grade: '–' })))
    await filter.fill('')
    await page.getByRole('button', { name: 'Filter by column' }).click()
    await page.getByRole('textbox', { name: 'Filter Shape' }).fill('128')
    await expect.poll(async () => (await tableRows(page)).map((row) => row['shape'])).toEqual(['128', '128', '128'])
    await page.getByRole('button', { name: 'Filter by column' }).click()
    await page.getByText('9 rows', { exact: true }).waitFor()
  })

  it('draws its charts', async () => {
    for (const tab of ['time', 'throughput', 'roofline']) {
      await showChart(page, tab)
      await expect.poll(() => coloursDrawn(page), { message: tab }).toBeGreaterThan(5)
    }
  })

  it('shows samples, verification and device of any row with the keyboard alone', async () => {
    await showChart(page, 'time')
    await grid(page).focus()
    await page.keyboard.press('Home')
    await page.keyboard.press('Enter')
    await details(page).getByRole('heading', { name: /^add / }).waitFor()
    for (const heading of ['Samples', 'Statistics', 'Verified before timing', 'Verified after timing', 'Device while sampling', 'Case']) await details(page).getByRole('heading', { name: heading, exact: true }).waitFor()
    await expect.poll(() => details(page).innerText()).toMatch(/Clock\s+1000 MHz/)
    await expect.poll(() => details(page).locator('canvas').count()).toBeGreaterThan(0)
    const first = await details(page).innerText()
    await page.keyboard.press('ArrowDown')
    await expect.poll(() => details(page).innerText()).not.toBe(first)
    await page.getByRole('button', { name: 'Close details (Esc)' }).click()
    await expect.poll(() => details(page).count()).toBe(0)
    await showChart(page, 'distribution')
    await expect.poll(() => coloursDrawn(page)).toBeGreaterThan(5)
  })
})

describe('two sessions', () => {
  it('of which the first is a pinned baseline raise an alert while the window is away, which opens their comparison', async () => {
    await opened.app.evaluate(({ BrowserWindow, Notification }) => {
      const shown: Electron.Notification[] = []
      Object.assign(globalThis, { shown })
      Notification.isSupported = () => true
      Notification.prototype.show = function () { shown.push(this) }
      BrowserWindow.prototype.isFocused = () => false
    })
    const alerts = () => opened.app.evaluate(() => (Reflect.get(globalThis, 'shown') as Electron.Notification[]).map(({ title, body }) => [title, ...body.split('\n')]))
    await view(page, 'History')
    await sessionRow('Before the change').click({ button: 'right' })
    await page.getByRole('menuitem', { name: 'Pin as baseline' }).click()
    await view(page, 'Run')
    expect(await runToEnd(page)).toMatch(/^Finished: 9 results/)
    // The second run was scripted to take 1.25 times as long.
    await expect.poll(async () => (await alerts()).find(([title]) => title === 'Slower than the baseline')).toEqual([
      'Slower than the baseline', expect.stringMatching(/^\d cases slower than the baseline of “Before the change” \(6 compared\)\.$/), expect.stringMatching(/: 1\.\d\dx slower$/), expect.stringMatching(/: 1\.\d\dx slower$/),
    ])
    await opened.app.evaluate(() => void (Reflect.get(globalThis, 'shown') as Electron.Notification[]).find(({ title }) => title === 'Slower than the baseline')!.emit('click'))
    await expect.poll(() => dataRows(page.getByRole('table', { name: 'Comparison by case' })).count()).toBe(6)
    await page.getByRole('button', { name: 'Before the change', exact: false }).first().waitFor()
    await dismissMessages(page)
  })

  it('are compared by case: speedup, interval and a word for the verdict', async () => {
    await view(page, 'History')
    await expect.poll(() => dataRows(sessions(page)).count()).toBe(2)
    const compare = page.getByRole('button', { name: /to compare them|Compare the selected/ })
    await expect.poll(() => compare.isDisabled()).toBe(true)
    await dataRows(sessions(page)).nth(0).click()
    await dataRows(sessions(page)).nth(1).click({ modifiers: ['Control'] })
    await compare.click()
    const table = page.getByRole('table', { name: 'Comparison by case' })
    await expect.poll(() => dataRows(table).count()).toBe(6)
    // The older session is the baseline.
    await page.getByRole('button', { name: 'Before the change', exact: false }).first().waitFor()
    const steady = dataRows(table).filter({ hasText: 'steady' })
    await expect.poll(() => steady.count()).toBe(3)
    for (const row of await steady.all()) {
      await row.getByText('▼ slower').waitFor()
      const cells = await row.getByRole('cell').allInnerTexts()
      expect(Number(cells[3]!.replace('x', ''))).toBeCloseTo(1 / 1.25, 2)
      expect(cells[5]).toBe('▼ slower')
    }
    await page.getByText('3 cases are not compared').or(page.getByText('6 cases are not compared')).waitFor()
    // The other way round the same sessions are faster.
    await page.getByTitle('Make this the baseline').click()
    await expect.poll(async () => (await steady.first().getByRole('cell').allInnerTexts())[5]).toBe('▲ faster')
    await page.getByRole('searchbox', { name: 'Filter cases' }).fill('noisy')
    await expect.poll(() => dataRows(table).count()).toBe(3)
  })

  it('and one inside itself: implementation by implementation, from the session view', async () => {
    await view(page, 'History')
    await sessionRow('Before the change').dblclick()
    await page.getByRole('button', { name: 'Compare inside this session' }).click()
    const table = page.getByRole('table', { name: 'Comparison by case' })
    await table.getByText('Baseline: fake steady').waitFor()
    await expect.poll(() => dataRows(table).count()).toBe(3)
    await table.focus()
    await page.keyboard.press('Home')
    await page.getByRole('region', { name: 'Details of the comparison' }).getByText('Corrected p').waitFor()
    // Zeros are wrong, so they are never ranked.
    await page.getByText('3 cases are not compared').waitFor()
    await page.getByRole('combobox', { name: 'Baseline' }).selectOption('fake noisy')
    await table.getByText('Baseline: fake noisy').waitFor()
    await page.getByRole('combobox', { name: 'Compare by' }).selectOption('dtype')
    await page.getByText('All its cases are f32').waitFor()
  })

  it('are deleted at once, and come back with Undo', async () => {
    await view(page, 'History')
    await dataRows(sessions(page)).nth(0).click()
    await page.keyboard.press('Control+a')
    await page.getByText('2 of 2 selected').waitFor()
    await page.keyboard.press('Delete')
    await page.getByText('No sessions yet').waitFor()
    await messages(page).getByText('Deleted 2 sessions.').waitFor()
    await messages(page).getByRole('button', { name: 'Undo' }).click()
    await expect.poll(() => dataRows(sessions(page)).count()).toBe(2)
    await sessionRow('Before the change').click()
    await page.keyboard.press('Delete')
    await messages(page).getByText('Deleted “Before the change”.').waitFor()
    await page.keyboard.press('Control+z')
    await sessionRow('Before the change').waitFor()
    await expect.poll(() => statusBar(page).innerText()).toContain('2 sessions')
  })

  it('leave no error on the console', () => {
    expect(opened.pageErrors).toEqual([])
  })
})
