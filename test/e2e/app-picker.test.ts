import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { violations } from './axe'
import { Cli } from './cli'
import { launch, type Launched } from './launch'
import { ended, endOf, leavePicks, messages, rowCount, scripted } from './ui'

/** Choosing among all operations: by keyboard, by a saved sweep, and the sweep in words. */
const dataDir = mkdtempSync(join(tmpdir(), 'opscope-picker-'))
let opened: Launched
let page: Page
beforeAll(async () => {
  leavePicks(dataDir, scripted(['steady'], '64, 128'))
  opened = await launch({ dataDir, env: { OPSCOPE_TEST_BACKEND: '1' } })
  page = opened.page
})
afterAll(async () => {
  await opened.close()
  rmSync(dataDir, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 })
})

const summary = () => page.getByTestId('sweep-summary')
const focused = () => page.evaluate(() => document.activeElement?.getAttribute('aria-label'))
const item = (name: string) => page.getByRole('treeitem', { name, exact: true })
const family = (name: string) => page.getByRole('treeitem').filter({ has: page.getByRole('checkbox', { name: `${name} family`, exact: true }) })

describe('the picker', () => {
  it('folds the families, with how many of each are picked, and says the sweep in words', async () => {
    await summary().getByText('2 cases').waitFor()
    await expect.poll(() => summary().innerText()).toMatch(/^1 operation × 2 sizes × f32 × 1 implementation, hot: 2 cases, about .+$/)
    await expect.poll(() => family('binary').innerText()).toMatch(/^binary\s*1\/\d+$/)
    expect(await page.getByRole('treeitem', { level: 2 }).count()).toBe(0)
  })

  it('is used by keyboard alone: slash, a PyTorch call, Space, Enter', async () => {
    await page.getByRole('heading', { name: 'Dtypes' }).click()
    await page.keyboard.press('/')
    await expect.poll(focused).toBe('Search operations')
    await page.keyboard.type('nn.functional.softmax')
    await item('softmax').waitFor()
    await expect.poll(() => page.getByRole('treeitem', { level: 2 }).first().getAttribute('aria-label')).toBe('softmax')
    await page.keyboard.press('Enter')
    await expect.poll(focused).toBe('softmax')
    await page.keyboard.press('Space')
    await summary().getByText('2 operations').waitFor()
    await page.keyboard.press('Space')
    await summary().getByText('1 operation ×').waitFor()
    await page.keyboard.press('?')
    await page.getByText('torch.softmax(x, -1)').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('searchbox', { name: 'Search operations' }).fill('')
    await family('binary').getByRole('checkbox').focus()
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('ArrowRight')
    await expect.poll(focused).toBe('add')
    await page.keyboard.press('Enter')
    expect(await ended(page)).toBe('Finished: 2 results.')
  })

  it('shows sizes and attributes of the picked operations alone', async () => {
    await expect.poll(() => page.getByRole('textbox', { name: 'Vectors (elements)' }).count()).toBe(1)
    expect(await page.getByRole('textbox', { name: /^Attention/ }).count()).toBe(0)
    await page.getByRole('searchbox', { name: 'Search operations' }).fill('scaled_dot')
    await item('scaled_dot_product_attention').getByRole('checkbox').check()
    await page.getByRole('textbox', { name: /^Attention/ }).waitFor()
    await page.getByRole('group', { name: /^Causal/ }).getByRole('button', { name: 'on' }).click()
    await summary().getByText(/2 operations \(3 variants\)/).waitFor()
    await item('scaled_dot_product_attention').getByRole('checkbox').uncheck()
    await expect.poll(() => page.getByRole('group', { name: /^Causal/ }).count()).toBe(0)
    await page.getByRole('searchbox', { name: 'Search operations' }).fill('')
  })

  it('has dtypes, backends and thoroughness in sight without scrolling', async () => {
    const window = await opened.app.browserWindow(page)
    await window.evaluate((one) => one.setContentSize(1440, 860))
    await expect.poll(() => page.evaluate(() => innerWidth)).toBe(1440)
    const inSight = () => page.getByRole('group', { name: 'What to measure' }).evaluate((panel) => {
      const frame = panel.getBoundingClientRect()
      return ['pick-dtypes', 'pick-modes', 'pick-backends', 'pick-preset'].map((id) => {
        const box = document.querySelector(`[aria-labelledby=${id}]`)!.getBoundingClientRect()
        return [id, box.height > 0 && box.top >= frame.top && box.bottom <= frame.bottom + 1]
      })
    })
    await expect.poll(inSight).toEqual(['pick-dtypes', 'pick-modes', 'pick-backends', 'pick-preset'].map((id) => [id, true]))
    await expect.poll(() => page.locator('button.bg-accent').count()).toBe(1)
  })
})

describe('a saved sweep', () => {
  const menu = () => page.getByRole('button', { name: /Suites and saved sweeps|nightly/ }).first()

  it('is saved, loaded, renamed, deleted and brought back', async () => {
    await page.getByRole('button', { name: 'Save…' }).click()
    await page.getByRole('textbox', { name: 'Name' }).fill('nightly')
    await page.keyboard.press('Enter')
    await expect.poll(() => menu().innerText()).toBe('nightly')
    await page.getByRole('textbox', { name: 'Vectors (elements)' }).fill('64, 128, 256, 512')
    await summary().getByText('4 cases').waitFor()
    await expect.poll(() => menu().innerText()).toBe('Suites and saved sweeps')
    await menu().click()
    const list = page.getByTestId('sweep-list')
    await list.getByRole('button', { name: /^nightly/ }).click()
    await summary().getByText('2 cases').waitFor()
    await menu().click()
    await list.getByRole('button', { name: 'Rename nightly' }).click()
    await page.getByRole('textbox', { name: 'New name of nightly' }).fill('nightly sums')
    await page.keyboard.press('Enter')
    await list.getByRole('button', { name: 'Delete nightly sums' }).click()
    await expect.poll(() => list.getByRole('button', { name: /^nightly/ }).count()).toBe(0)
    await page.keyboard.press('Escape')
    await messages(page).getByText('Deleted the sweep “nightly sums”.').waitFor()
    await messages(page).getByRole('button', { name: 'Undo' }).last().click()
    await expect.poll(() => menu().innerText()).toBe('nightly sums')
  })

  it('names the session of its run', async () => {
    expect(await endOf(page, () => page.keyboard.press('Control+Enter'))).toBe('Finished: 2 results.')
    await page.getByRole('button', { name: 'Open session' }).click()
    await page.getByRole('main').getByRole('button', { name: 'nightly sums' }).waitFor()
    await expect.poll(() => rowCount(page)).toBe(2)
  })

  it('runs from the command line, which prints the same line', async () => {
    const cli = new Cli()
    const env = { OPSCOPE_DATA_DIR: dataDir }
    const listed = await cli.run(['list', 'sweeps'], env)
    expect(listed.out).toMatch(/nightly sums\s+1 operation × 2 sizes × f32 × 1 implementation, hot/)
    const dry = await cli.run(['run', '--sweep', 'nightly sums', '--dry-run'], env)
    expect(dry.out).toMatch(/^1 operation × 2 sizes × f32 × 1 implementation, hot: 2 cases, (?:about .+|under 1 s)\n$/)
    const unknown = await cli.run(['run', '--sweep', 'nightly sum'], env)
    expect([unknown.status, unknown.err]).toEqual([2, expect.stringContaining('Did you mean "nightly sums"?')])
    expect((await cli.run(['run', '--sweep', 'nightly sums', '--ops', 'add'], env)).err).toContain('--sweep defines what is measured; remove --ops')
    rmSync(cli.folder, { recursive: true, force: true })
  })

  it('and the picker have no accessibility violation', async () => {
    await page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name: 'Run' }).click()
    await menu().click()
    await page.getByTestId('sweep-list').getByRole('button', { name: 'Delete nightly sums' }).waitFor()
    expect(await violations(page)).toEqual([])
    await page.keyboard.press('Escape')
  })

  it('leaves no error on the console', () => {
    expect(opened.pageErrors).toEqual([])
  })
})
