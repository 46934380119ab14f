import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { launch, type Launched } from './launch'
import { dismissMessages, grid, leavePicks, messages, runToEnd, scripted } from './ui'

const folder = mkdtempSync(join(tmpdir(), 'opscope-sharing-'))
const file = (name: string) => join(folder, name)
let opened: Launched
let page: Page

const saveTo = (path: string) => opened.app.evaluate(({ dialog }, filePath) => void (dialog.showSaveDialog = (() => Promise.resolve({ canceled: false, filePath })) as typeof dialog.showSaveDialog), path)
const findings = () => page.getByRole('complementary', { name: 'Findings' })
const selectedRows = () => grid(page).locator('[role=row][aria-selected=true]').count()
const clipboard = () => opened.app.evaluate(({ clipboard: board }) => board.readText())

beforeAll(async () => {
  const dataDir = file('data')
  leavePicks(dataDir, scripted(['steady', 'nan', 'oom']))
  opened = await launch({ dataDir, env: { OPSCOPE_TEST_BACKEND: '1' } })
  page = opened.page
  await runToEnd(page)
  await page.getByRole('button', { name: 'Open session' }).click()
  await page.getByText('9 rows').waitFor()
  await dismissMessages(page)
})
afterAll(async () => {
  await opened.close()
  rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 })
})

describe('findings', () => {
  it('tell what stands out, and select the rows they are about', async () => {
    await page.keyboard.press('Control+Shift+F')
    const wrong = findings().getByRole('button').filter({ hasText: 'failed verification' })
    await wrong.waitFor()
    await expect.poll(() => wrong.innerText()).toMatch(/Problem\s*Failed or inaccurate\s*3 rows/)
    await wrong.click()
    await expect.poll(selectedRows).toBe(3)
    await expect.poll(() => wrong.getAttribute('aria-pressed')).toBe('true')
    const selected = () => grid(page).locator('[role=row][aria-selected=true]').allInnerTexts()
    await expect.poll(selected).toEqual(Array(3).fill(expect.stringContaining('verification failed')))
    await findings().getByRole('button').filter({ hasText: 'failed:' }).click()
    await expect.poll(selected).toEqual(Array(3).fill(expect.stringMatching(/^(?![^]*verification failed)[^]*failed/)))
  })
})

describe('rows', () => {
  it('are copied as the one command that measures them again, and as JSON', async () => {
    await grid(page).focus()
    await page.keyboard.press('Control+a')
    await page.keyboard.press('Control+Shift+c')
    await messages(page).getByText('Copied 1 command.').waitFor()
    expect(await clipboard()).toMatch(/^npm run opscope -- run --ops add --sizes '64, 128, 256' --dtypes f32 --devices fake:0 --impls [\w,]+ --modes hot .*--preset quick\n$/)
    const row = grid(page).locator('[role=row][data-row]').first()
    await row.click({ button: 'right' })
    await page.getByRole('menuitem', { name: 'Copy rows as JSON' }).click()
    await messages(page).getByText('Copied 9 rows as JSON.').waitFor()
    expect(JSON.parse(await clipboard())).toHaveLength(9)
    await dismissMessages(page)
  })
})

describe('a session', () => {
  it('is copied as the text that an export would write', async () => {
    await page.keyboard.press('Control+s')
    await page.getByRole('dialog').getByRole('button', { name: 'Copy as CSV' }).click()
    await messages(page).getByText(/^Copied as CSV \(/).waitFor()
    const lines = (await clipboard()).trim().split('\n')
    expect(lines[0]).toContain('op,')
    expect(lines).toHaveLength(10)
    await dismissMessages(page)
  })
})

describe('a report', () => {
  const path = file('report.html')

  it('is written without the name of the computer, unless it is kept', async () => {
    for (const [keep, name] of [[true, 'kept.html'], [false, 'report.html']] as const) {
      await saveTo(file(name))
      await page.keyboard.press('Control+s')
      await page.getByRole('dialog').getByText('HTML', { exact: true }).click()
      const box = page.getByRole('checkbox', { name: 'Keep: Name of the computer' })
      expect(await box.isChecked()).toBe(false)
      if (keep) await box.check()
      await page.getByRole('button', { name: 'Choose where to write…' }).click()
      await messages(page).getByText(`Exported to ${name}.`).waitFor()
      await dismissMessages(page)
      expect(readFileSync(file(name), 'utf8').includes(hostname())).toBe(keep)
    }
    expect(readFileSync(path, 'utf8')).toContain('[host]')
  })

  it('opens alone, draws its charts, answers the pointer, sorts and filters, and asks the network for nothing', async () => {
    const coming = opened.app.waitForEvent('window')
    await opened.app.evaluate(({ BrowserWindow, session }) => {
      const own = session.fromPartition('report')
      const asked: string[] = []
      Reflect.set(globalThis, 'askedByReport', asked)
      own.webRequest.onBeforeRequest((details, answer) => {
        asked.push(details.url)
        answer({})
      })
      const window = new BrowserWindow({ width: 1440, height: 900, show: false, webPreferences: { session: own } })
      Reflect.set(globalThis, 'reportWindow', window)
      void window.loadURL('about:blank')
    })
    const report = await coming
    const problems: string[] = []
    report.on('pageerror', (error) => problems.push(String(error)))
    report.on('console', (message) => message.type() === 'error' && problems.push(message.text()))
    await opened.app.evaluate((_, target) => (Reflect.get(globalThis, 'reportWindow') as Electron.BrowserWindow).loadFile(target), path)
    await report.getByRole('heading', { name: 'Charts' }).waitFor()

    const time = report.getByRole('img', { name: 'add: time against size' })
    const dots = time.locator('circle')
    await expect.poll(() => dots.count()).toBe(3)
    const xs = await dots.evaluateAll((all) => all.map((dot) => dot.getBoundingClientRect().x))
    expect(xs).toEqual([...xs].sort((a, b) => a - b))
    await dots.nth(1).hover()
    await report.getByRole('status').getByText(/^fake:0 steady .*\n128: .* [nµ]s\n<?±.* %, \d+ samples, grade [ABC]$/).waitFor()

    const plot = (await time.boundingBox())!
    await report.mouse.move(plot.x + plot.width * 0.3, plot.y + plot.height * 0.1)
    await report.mouse.down()
    await report.mouse.move(plot.x + plot.width * 0.7, plot.y + plot.height * 0.8, { steps: 3 })
    await report.mouse.up()
    await expect.poll(() => dots.nth(2).evaluate((dot, first) => dot.getBoundingClientRect().x > first, xs[2]!)).toBe(true)
    await report.getByRole('button', { name: 'Reset zoom' }).first().click()
    await expect.poll(() => dots.evaluateAll((all) => all.map((dot) => dot.getBoundingClientRect().x))).toEqual(xs)

    await report.locator('.legend').getByRole('button').first().click()
    await expect.poll(() => dots.first().evaluate((dot) => getComputedStyle(dot).display)).toBe('none')
    const rows = report.getByRole('table', { name: 'Results' }).locator('tbody tr')
    await report.getByRole('searchbox', { name: 'Filter rows of Results' }).fill('steady')
    const shapes = () => rows.evaluateAll((all) => all.filter((row) => getComputedStyle(row).display !== 'none').map((row) => row.children[1]!.textContent))
    await expect.poll(shapes).toEqual(['64', '128', '256'])
    await report.getByRole('columnheader', { name: 'shape' }).click()
    await report.getByRole('columnheader', { name: 'shape' }).click()
    await expect.poll(shapes).toEqual(['256', '128', '64'])

    const asked = await opened.app.evaluate(() => Reflect.get(globalThis, 'askedByReport') as string[])
    expect(asked.filter((url) => !url.startsWith('file:') && url !== 'about:blank')).toEqual([])
    expect(problems).toEqual([])
    await opened.app.evaluate(() => (Reflect.get(globalThis, 'reportWindow') as Electron.BrowserWindow).destroy())
  })

  it('leaves no error on the console', () => {
    expect(opened.pageErrors).toEqual([])
  })
})
