import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { openHistory } from '../../main/history'
import { testCase, testEnvironment, testResult, testSettings } from '../../main/history/testing/sessions'
import { dataPaths } from '../../main/paths'
import { Cli } from './cli'
import { launch, type Launched } from './launch'
import { coloursDrawn, dataRows, grid, messages, rowCount, sessions, view } from './ui'

const dataDir = mkdtempSync(join(tmpdir(), 'opscope-history-e2e-'))
const backup = join(dataDir, 'kept elsewhere.sqlite')
let opened: Launched
let page: Page

/** Eight nights of the same two cases, of which `add` is a tenth slower from the fifth night on, and one of another operation. */
function fill(): void {
  const { history } = openHistory(dataPaths(dataDir).history)
  const add = (n: number, name: string, op: string, medianNs: number, tags: string[]) => {
    const results = [1, 2].map((i) => {
      const made = testResult(`r${n}-${i}`, testCase(1024 * i, op))
      return { ...made, wallMs: n, grade: 'A' as const, summary: { ...made.summary!, medianNs: medianNs * i, ciLowNs: medianNs * i * 0.999, ciHighNs: medianNs * i * 1.001 } }
    })
    const environment = { ...testEnvironment, devices: [{ ...testEnvironment.devices[0]!, driver: n < 5 ? '560' : '570' }] }
    history.importSession({ schemaVersion: 2, environment, results, session: { id: `s${n}`, name, createdAt: new Date(Date.UTC(2026, 2, n, 12)).toISOString(), notes: '', tags, state: 'done', planned: 2, settings: testSettings } })
  }
  for (let night = 1; night <= 8; night++) add(night, `Night ${night}`, 'add', (night < 5 ? 1000 : 1100) + (night % 3), night % 2 ? ['nightly', 'odd'] : ['nightly'])
  add(20, 'Only softmax', 'softmax', 5000, ['softmax'])
  history.close()
}

beforeAll(async () => {
  fill()
  opened = await launch({ dataDir })
  page = opened.page
  await view(page, 'History')
})
afterAll(async () => {
  await opened.close()
  rmSync(dataDir, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 })
})

const names = async () => (await dataRows(sessions(page)).allInnerTexts()).map((text) => text.split('\n')[0]!.trim())
const row = (name: string) => dataRows(sessions(page)).filter({ hasText: name })
const pick = async (facet: string, value: string) => {
  await page.getByRole('button', { name: facet, exact: true }).click()
  const choices = page.getByRole('group', { name: facet, exact: true })
  await choices.getByRole('checkbox', { name: value }).check()
  await page.keyboard.press('Escape')
  await choices.waitFor({ state: 'detached' })
}

describe('the list', () => {
  it('is narrowed by operation, tag and date; the address keeps it through other views', async () => {
    await expect.poll(() => dataRows(sessions(page)).count()).toBe(9)
    await pick('Operation', 'softmax')
    await expect.poll(names).toEqual(['Only softmax'])
    await page.getByRole('button', { name: 'Remove filter softmax' }).click()
    await pick('Tag', 'odd')
    await expect.poll(names).toEqual(['Night 7', 'Night 5', 'Night 3', 'Night 1'])
    await page.getByRole('button', { name: 'Date', exact: true }).click()
    await page.getByLabel('From').fill('2026-03-04')
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await expect.poll(names).toEqual(['Night 7', 'Night 5'])
    await expect.poll(() => page.evaluate(() => location.hash)).toMatch(/^#\/history\?tags=odd&from=2026-03-04$/)
    await view(page, 'Run')
    await view(page, 'History')
    await expect.poll(names).toEqual(['Night 7', 'Night 5'])
    await page.getByText('2 of 9 sessions').waitFor()
  })

  it('is cleared with the keyboard', async () => {
    await sessions(page).focus()
    await page.keyboard.press('Escape')
    await expect.poll(() => dataRows(sessions(page)).count()).toBe(9)
    await expect.poll(() => page.evaluate(() => location.hash)).toBe('#/history')
  })

  it('tags several sessions at once, and takes it back', async () => {
    await row('Night 1').click()
    await row('Night 2').click({ modifiers: ['Control'] })
    await page.getByRole('button', { name: 'Tags…' }).click()
    await page.getByLabel('New tags, separated by commas').fill('release')
    await page.getByRole('group', { name: 'Tags in use' }).getByRole('checkbox', { name: 'nightly' }).uncheck()
    await page.getByRole('button', { name: 'Save' }).click()
    await messages(page).getByText('Changed the tags of 2 sessions.').waitFor()
    await expect.poll(() => row('Night 1').innerText()).toMatch(/odd\s+release/)
    await expect.poll(() => row('Night 2').innerText()).not.toContain('nightly')
    await messages(page).getByRole('button', { name: 'Undo' }).last().click()
    await expect.poll(() => row('Night 2').innerText()).toContain('nightly')
    await expect.poll(() => row('Night 1').innerText()).not.toContain('release')
  })

  it('merges and splits into new sessions, and takes that back', async () => {
    await page.getByRole('button', { name: 'More', exact: true }).click()
    await page.getByRole('button', { name: 'Merge into a new session' }).click()
    await row('Night 1 + Night 2').waitFor()
    await expect.poll(() => row('Night 1 + Night 2').innerText()).toMatch(/\s4\s/)
    await messages(page).getByRole('button', { name: 'Undo' }).last().click()
    await expect.poll(() => dataRows(sessions(page)).count()).toBe(9)
    await row('Night 3').click()
    await page.getByRole('button', { name: 'More', exact: true }).click()
    await page.getByRole('button', { name: 'operation', exact: true }).click()
    await messages(page).getByText('All results of “Night 3” have the same op: add.').waitFor()
  })
})

describe('one case over all sessions', () => {
  it('is opened from a row: chart, change point, change of the environment', async () => {
    await row('Night 8').dblclick()
    await expect.poll(() => rowCount(page)).toBe(2)
    await grid(page).focus()
    await page.keyboard.press('Home')
    await expect.poll(() => grid(page).getByRole('row', { selected: true }).count()).toBe(1)
    await page.keyboard.press('Control+Shift+H')
    await expect.poll(() => page.getByTestId('case-verdict').innerText()).toBe('One change above 1.00 %.')
    await expect.poll(() => coloursDrawn(page)).toBeGreaterThan(5)
    const table = page.getByRole('table', { name: 'Sessions of this case' })
    await expect.poll(() => table.locator('tbody tr').count()).toBe(8)
    const changed = () => table.locator('tbody tr').filter({ hasText: 'slower' }).allInnerTexts()
    await expect.poll(changed).toHaveLength(1)
    expect((await changed())[0]).toMatch(/Night 5.*(9\.9|10\.\d).* % slower.*Driver: 560 → 570/s)
    await table.getByRole('button', { name: 'Night 4' }).click()
    await expect.poll(() => page.evaluate(() => location.hash)).toBe('#/session/s4')
  })
})

describe('the whole history', () => {
  const dialogsAnswer = (path: string) =>
    opened.app.evaluate(({ dialog }, chosen) => {
      dialog.showSaveDialog = (() => Promise.resolve({ canceled: false, filePath: chosen })) as typeof dialog.showSaveDialog
      dialog.showOpenDialog = (() => Promise.resolve({ canceled: false, filePaths: [chosen] })) as typeof dialog.showOpenDialog
    }, path)

  it('is checked, backed up, and restored with nothing lost', async () => {
    await view(page, 'Settings')
    await page.getByRole('button', { name: 'Check the history' }).click()
    await page.getByText(/^Everything is in order: looked at 9 sessions with 2\d results/).waitFor()
    await dialogsAnswer(backup)
    await page.getByRole('button', { name: 'Back up…' }).click()
    await page.getByText(/^Backed up to kept elsewhere\.sqlite: 9 sessions/).waitFor()
    await expect.poll(() => existsSync(backup)).toBe(true)
    await view(page, 'History')
    await row('Only softmax').click()
    await page.keyboard.press('Delete')
    await expect.poll(() => dataRows(sessions(page)).count()).toBe(8)
    await view(page, 'Settings')
    await page.getByRole('button', { name: 'Restore a backup…' }).click()
    await page.getByText(/^Restored 9 sessions .* from kept elsewhere\.sqlite\. What was here before stays/).waitFor()
    await expect.poll(() => readdirSync(dataDir).filter((name) => name.includes('before-restore'))).toHaveLength(1)
    await view(page, 'History')
    await expect.poll(() => dataRows(sessions(page)).count()).toBe(9)
    await row('Only softmax').dblclick()
    await expect.poll(() => dataRows(grid(page)).count()).toBe(2)
  })

  it('says in words why a file is no backup, and stays as it is', async () => {
    await dialogsAnswer(join(dataDir, 'settings.json'))
    await view(page, 'Settings')
    await page.getByRole('button', { name: 'Restore a backup…' }).click()
    await page.getByText(/settings\.json cannot be restored: .*Nothing was changed\./).waitFor()
    await view(page, 'History')
    await expect.poll(() => dataRows(sessions(page)).count()).toBe(9)
  })

  it('is followed, checked and restored on the command line too', async () => {
    const cli = new Cli()
    const run = (...args: string[]) => cli.start(args, { OPSCOPE_DATA_DIR: dataDir }).ended
    const followed = await run('history', 'case', 'r8-1')
    expect(followed).toMatchObject({ status: 0 })
    expect(followed.out).toMatch(/Night 5 .*slower .*Driver: 560 → 570/)
    expect(followed.out).toContain('1 change above 1.00 %.')
    expect((await run('history', 'list', '--tags', 'odd', '--from', '2026-03-04', '--json')).out).toContain('"Night 7"')
    expect((await run('history', 'check')).out).toContain('Everything is in order')
    // The window has the file open.
    const refused = await run('history', 'restore', backup)
    expect(refused.status).toBe(1)
    expect(refused.err).toContain('Another Opscope')
    expect((await run('history', 'backup', backup)).status).toBe(2)
    expect((await run('history', 'split', 'Night 3', '--by', 'operation')).err).toContain('Choose from: op, backend')
    rmSync(cli.folder, { recursive: true, force: true })
  })
})
