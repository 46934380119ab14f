import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { launch, type Launched } from './launch'
import { dataRows, details, ended, endOf, grid, leavePicks, messages, rowCount, scripted, sessions, statusBar, tableRows, view } from './ui'

const dataDir = mkdtempSync(join(tmpdir(), 'opscope-keyboard-'))
let opened: Launched
let page: Page
beforeAll(async () => {
  leavePicks(dataDir, scripted(['steady'], '64, 128, 256, 512'))
  opened = await launch({ dataDir, env: { OPSCOPE_TEST_BACKEND: '1' } })
  page = opened.page
})
afterAll(async () => {
  await opened.close()
  rmSync(dataDir, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 })
})

const heading = () => new URL(page.url()).hash
const palette = () => page.getByRole('dialog', { name: 'Command palette' })

describe('without a mouse', () => {
  it('a run starts with Ctrl+Enter, wherever the focus is', async () => {
    await page.getByText('4 cases').waitFor()
    await expect.poll(() => page.getByRole('button', { name: /^Run/ }).isEnabled()).toBe(true)
    await page.getByRole('searchbox', { name: 'Search operations' }).focus()
    await page.keyboard.press('Control+Enter')
    expect(await ended(page)).toBe('Finished: 4 results.')
    await expect.poll(() => rowCount(page)).toBe(4)
  })

  it('rows are walked, marked, opened and copied', async () => {
    await grid(page).focus()
    const marked = () => grid(page).getByRole('row', { selected: true }).count()
    await page.keyboard.press('Home')
    await expect.poll(marked).toBe(1)
    await page.keyboard.press('Shift+ArrowDown')
    await expect.poll(marked).toBe(2)
    await page.keyboard.press('Control+a')
    await page.getByText('4 rows, 4 selected').waitFor()
    await page.keyboard.press('Control+c')
    await messages(page).getByText('Copied 4 rows.').waitFor()
    const copied = await opened.app.evaluate(({ clipboard }) => clipboard.readText())
    expect(copied.split('\n')).toHaveLength(5)
    expect(copied.split('\n')[1]!.split('\t')).toEqual(expect.arrayContaining(['add', '64', 'f32', 'fake steady']))
    await page.keyboard.press('End')
    await page.keyboard.press('Enter')
    await details(page).getByRole('heading', { name: 'add 512 f32' }).waitFor()
    await page.keyboard.press('ArrowUp')
    await details(page).getByRole('heading', { name: 'add 256 f32' }).waitFor()
    await details(page).getByRole('button', { name: /^Close/ }).focus()
    await page.keyboard.press('Escape')
    await expect.poll(() => details(page).count()).toBe(0)
  })

  it('the palette finds a command by parts of its name and runs it', async () => {
    await page.keyboard.press('Control+k')
    await palette().getByRole('combobox').fill('hist')
    await expect.poll(() => palette().getByRole('option').first().innerText()).toMatch(/^History view/)
    await page.keyboard.press('Enter')
    await expect.poll(heading).toBe('#/history')
    await expect.poll(() => palette().count()).toBe(0)
    // Sessions are found there as well.
    const name = await dataRows(sessions(page)).first().getByRole('gridcell').first().innerText()
    await page.keyboard.press('Control+k')
    await palette().getByRole('combobox').fill(`Open ${name.slice(0, 5)}`)
    await expect.poll(() => palette().getByRole('option').first().innerText()).toContain(`Open ${name.slice(0, 5)}`)
    await page.keyboard.press('Enter')
    await expect.poll(heading).toMatch(/^#\/session\/.+/)
    await expect.poll(() => rowCount(page)).toBe(4)
    await page.keyboard.press('Control+k')
    await palette().waitFor()
    await page.keyboard.press('Escape')
    await expect.poll(() => palette().count()).toBe(0)
  })

  it('views have keys, and Ctrl+F goes to the search of each', async () => {
    const searches = [['1', '#/run', 'Filter rows'], ['4', '#/history', 'Search sessions'], ['2', '#/session', 'Filter rows']] as const
    for (const [key, address, search] of searches) {
      await page.keyboard.press(`Control+${key}`)
      await expect.poll(heading).toContain(address)
      await page.keyboard.press('Control+f')
      await expect.poll(() => page.evaluate(() => document.activeElement?.getAttribute('aria-label'))).toBe(search)
    }
    for (const [key, address] of [['3', '#/compare'], ['5', '#/devices'], [',', '#/settings']] as const) {
      await page.keyboard.press(`Control+${key}`)
      await expect.poll(heading).toContain(address)
    }
  })

  it('every command of the menu does something where it can, and shows its key', async () => {
    const items = await opened.app.evaluate(({ Menu }) => ['run.start', 'view.palette', 'session.export', 'view.history'].map((id) => Menu.getApplicationMenu()!.getMenuItemById(id)!.accelerator))
    expect(items).toEqual(['CmdOrCtrl+Enter', 'CmdOrCtrl+K', 'CmdOrCtrl+S', 'CmdOrCtrl+4'])
    await view(page, 'Run')
    expect(await endOf(page, () => opened.app.evaluate(({ Menu }) => Menu.getApplicationMenu()!.getMenuItemById('run.start')!.click()))).toBe('Finished: 4 results.')
    await expect.poll(() => statusBar(page).innerText()).toContain('2 sessions')
    await opened.app.evaluate(({ Menu }) => Menu.getApplicationMenu()!.getMenuItemById('help.shortcuts')!.click())
    await page.getByRole('dialog').getByText('Command palette').waitFor()
    await page.keyboard.press('Escape')
    await expect.poll(() => page.getByRole('dialog').count()).toBe(0)
  })
})

describe('the next start', () => {
  it('brings back picks, view, columns, the height of the charts and theme', async () => {
    await view(page, 'Run')
    await page.getByRole('textbox', { name: 'Vectors (elements)' }).fill('64, 4096')
    await page.getByText('2 cases').waitFor()
    await page.getByRole('button', { name: 'Columns' }).click()
    await page.getByRole('checkbox', { name: 'p95' }).click()
    await page.keyboard.press('Escape')
    const divider = () => page.getByRole('separator', { name: 'Height of the charts' })
    const heightNow = () => divider().getAttribute('aria-valuenow')
    let height = await heightNow()
    for (let i = 0; i < 2; i++) {
      await divider().press('ArrowDown')
      await expect.poll(heightNow).not.toBe(height)
      height = await heightNow()
    }
    expect(Number(height)).toBeGreaterThan(50)
    await view(page, 'Settings')
    await page.getByRole('radio', { name: 'Dark' }).click()
    await expect.poll(() => page.evaluate(() => matchMedia('(prefers-color-scheme: dark)').matches)).toBe(true)
    const dark = await page.evaluate(() => getComputedStyle(document.body).backgroundColor)
    await page.getByRole('radio', { name: 'Light' }).click()
    await expect.poll(() => page.evaluate(() => getComputedStyle(document.body).backgroundColor)).not.toBe(dark)
    await page.getByRole('radio', { name: 'Dark' }).click()
    await expect.poll(() => page.evaluate(() => getComputedStyle(document.body).backgroundColor)).toBe(dark)
    await view(page, 'History')
    await expect.poll(() => JSON.parse(readFileSync(join(dataDir, 'settings.json'), 'utf8')) as unknown).toMatchObject({ lastView: '/history' })
    expect(opened.pageErrors).toEqual([])
    await opened.close()

    opened = await launch({ dataDir, env: { OPSCOPE_TEST_BACKEND: '1' } })
    page = opened.page
    await expect.poll(heading).toBe('#/history')
    await expect.poll(() => page.evaluate(() => getComputedStyle(document.body).backgroundColor)).toBe(dark)
    await view(page, 'Run')
    await page.getByText('2 cases').waitFor()
    await expect.poll(heightNow).toBe(height)
    await expect.poll(() => page.getByRole('textbox', { name: 'Vectors (elements)' }).inputValue()).toBe('64, 4096')
    await expect.poll(() => page.getByRole('button', { name: /^Run/ }).isEnabled()).toBe(true)
    await page.keyboard.press('Control+Enter')
    expect(await ended(page)).toBe('Finished: 2 results.')
    await expect.poll(async () => (await tableRows(page)).map((row) => Number(row['p95']) > 0)).toEqual([true, true])
    expect(opened.pageErrors).toEqual([])
  })
})
