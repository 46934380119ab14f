import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { launch, type Launched } from './launch'
import { dataRows, dismissMessages, leavePicks, messages, rowCount, runToEnd, scripted, sessions, tableRows, view } from './ui'

const folder = mkdtempSync(join(tmpdir(), 'opscope-files-'))
const file = (name: string) => join(folder, name)
let opened: Launched
let page: Page

/** What the file dialogs answer from now on; undefined: the user cancels. How often a place to save to was asked for is counted. */
const dialogsAnswer = (path: string | undefined) =>
  opened.app.evaluate(({ dialog }, chosen) => {
    const cancelled = chosen === null
    const counts = { saveDialogs: 0 }
    Object.assign(globalThis, { counts })
    dialog.showSaveDialog = (() => {
      counts.saveDialogs++
      return Promise.resolve({ canceled: cancelled, filePath: chosen ?? '' })
    }) as typeof dialog.showSaveDialog
    dialog.showOpenDialog = (() => Promise.resolve({ canceled: cancelled, filePaths: cancelled ? [] : [chosen] })) as typeof dialog.showOpenDialog
  }, path ?? null)

const chooseInMenu = (id: string) => opened.app.evaluate(({ Menu }, item) => Menu.getApplicationMenu()!.getMenuItemById(item)!.click(), id)

/** Takes a format in the export dialog. */
const chooseFormat = (title: string) => page.getByRole('dialog', { name: /^Export “/ }).locator('button', { has: page.getByText(title, { exact: true }) }).click()

beforeAll(async () => {
  const dataDir = file('data')
  leavePicks(dataDir, scripted(['steady', 'bimodal', 'nan', 'oom']))
  opened = await launch({ dataDir, env: { OPSCOPE_TEST_BACKEND: '1' } })
  page = opened.page
  expect(await runToEnd(page)).toMatch(/^Finished: 12 results/)
  await page.getByRole('button', { name: 'Open session' }).click()
  await page.getByText('12 rows').waitFor()
  await dismissMessages(page)
})
afterAll(async () => {
  await opened.close()
  rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 })
})

describe('export', () => {
  it('writes JSON from the menu and names the file', async () => {
    await dialogsAnswer(file('out.json'))
    await chooseInMenu('session.export')
    await chooseFormat('JSON')
    await messages(page).getByText('Exported to out.json.').waitFor()
    const exported = JSON.parse(readFileSync(file('out.json'), 'utf8')) as { results: { status: string; samplesNs: number[] }[] }
    expect(exported.results).toHaveLength(12)
    const measured = exported.results.filter(({ status }) => status === 'ok')
    expect(measured.length).toBeGreaterThan(0)
    for (const { samplesNs } of measured) expect(samplesNs.length).toBeGreaterThanOrEqual(10)
  })

  it('writes CSV from the toolbar, one line for each row of the table', async () => {
    await dialogsAnswer(file('out.csv'))
    await page.getByRole('main').getByRole('button', { name: 'Export…' }).click()
    await chooseFormat('CSV')
    await messages(page).getByText('Exported to out.csv.').waitFor()
    const lines = readFileSync(file('out.csv'), 'utf8').trim().split(/\r?\n/)
    expect(lines).toHaveLength(13)
    expect(lines.filter((line) => line.includes('nan'))).toHaveLength(3)
  })

  it('saves the chart in view', async () => {
    await dialogsAnswer(file('chart.png'))
    await page.getByRole('button', { name: 'Export chart as PNG' }).click()
    await expect.poll(() => readFileSync(file('chart.png')).subarray(1, 4).toString()).toBe('PNG')
    await dialogsAnswer(file('chart.svg'))
    await page.getByRole('button', { name: 'Export chart as SVG' }).click()
    await expect.poll(() => readFileSync(file('chart.svg'), 'utf8')).toMatch(/^<svg[\s\S]*<\/svg>\s*$/)
  })

  it('writes nothing and says nothing when the dialog is cancelled', async () => {
    const before = readdirSync(folder)
    await dialogsAnswer(undefined)
    await page.keyboard.press('Control+s')
    await chooseFormat('JSON')
    await expect.poll(() => opened.app.evaluate(() => (Reflect.get(globalThis, 'counts') as { saveDialogs: number }).saveDialogs)).toBe(1)
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await view(page, 'History')
    await expect.poll(() => dataRows(sessions(page)).count()).toBe(1)
    expect(readdirSync(folder)).toEqual(before)
    expect(await messages(page).getByRole('alert').count()).toBe(0)
  })

  it('says what happened when the file cannot be written', async () => {
    await dialogsAnswer(join(folder, 'no such folder', 'out.json'))
    await dataRows(sessions(page)).first().click()
    await page.keyboard.press('Control+s')
    await chooseFormat('JSON')
    await messages(page).getByRole('alert').getByText(/out\.json could not be written; nothing was changed \(.+\)\./).waitFor()
    await messages(page).getByRole('alert').getByRole('button', { name: 'Dismiss' }).click()
  })
})

describe('import', () => {
  it('gives back an identical session', async () => {
    await view(page, 'Session')
    await expect.poll(async () => (await tableRows(page)).length).toBe(12)
    const shown = await tableRows(page)
    await dialogsAnswer(file('out.json'))
    await page.keyboard.press('Control+o')
    await messages(page).getByText(/^“.*” was already in the history/).waitFor()
    await view(page, 'History')
    await expect.poll(() => dataRows(sessions(page)).count()).toBe(2)
    const [first, second] = await dataRows(sessions(page)).all()
    await expect.poll(async () => (await second!.innerText()) === (await first!.innerText())).toBe(true)
    await first!.dblclick()
    await expect.poll(() => rowCount(page)).toBe(12)
    await expect.poll(() => tableRows(page)).toEqual(shown)
    // Both sessions, exported again, say the same to the last digit.
    await view(page, 'History')
    const texts: unknown[] = []
    for (const position of [0, 1]) {
      await dialogsAnswer(file(`again-${position}.json`))
      await dataRows(sessions(page)).nth(position).click()
      await page.keyboard.press('Control+s')
      // The first format has the focus.
      await expect.poll(() => page.getByRole('dialog').locator('button:focus').innerText()).toMatch(/^JSON\b/)
      await page.keyboard.press('Enter')
      await messages(page).getByText(`Exported to again-${position}.json.`).waitFor()
      texts.push(withoutIds(JSON.parse(readFileSync(file(`again-${position}.json`), 'utf8'))))
    }
    expect(texts[0]).toEqual(withoutIds(JSON.parse(readFileSync(file('out.json'), 'utf8'))))
    expect(texts[1]).toEqual(texts[0])
  })

  it.each([
    ['cut.json', (text: string) => text.slice(0, text.length / 2), /line \d+|column \d+|position \d+|ends/],
    ['status.json', (text: string) => text.replace(/"status":\s*"ok"/, '"status": "splendid"'), /results.*status/],
    ['notes.json', () => '{"title": "shopping"}', /not a format that can be read; expected one of: JSON/],
  ])('of %s is refused in one message with the place, and changes nothing', async (name, damage, place) => {
    writeFileSync(file(name), damage(readFileSync(file('out.json'), 'utf8')))
    await view(page, 'History')
    await expect.poll(() => dataRows(sessions(page)).count()).toBe(2)
    const before = await sessions(page).innerText()
    await dialogsAnswer(file(name))
    await page.getByRole('button', { name: 'Import…' }).click()
    const alert = messages(page).getByRole('alert').filter({ hasText: name })
    await alert.waitFor()
    await expect.poll(() => alert.count()).toBe(1)
    const said = await alert.getByRole('paragraph').innerText()
    expect(said).toMatch(place)
    expect(said.split(name)).toHaveLength(2)
    expect(await sessions(page).innerText()).toBe(before)
    await alert.getByRole('button', { name: 'Dismiss' }).click()
    await expect.poll(() => alert.count()).toBe(0)
  })

  it('leaves no error on the console', () => {
    expect(opened.pageErrors).toEqual([])
  })
})

/** The same value with every identity left out: a copy has its own. */
function withoutIds(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutIds)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).filter(([key]) => key !== 'id').map(([key, inner]) => [key, withoutIds(inner)]))
}
