import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import type { Settings } from '@core/settings'
import { launch, type Launched } from './launch'
import { details, dismissMessages, grid, leavePicks, messages, pickImpls, rowCount, runToEnd, scripted, tableRows, view } from './ui'

const dataDir = mkdtempSync(join(tmpdir(), 'opscope-measuring-'))
const DISTURBANCE = 'Another process (trainer, 4.2 GiB) uses this device'
let opened: Launched
let page: Page

beforeAll(async () => {
  leavePicks(dataDir, { ...scripted(['steady'], '64'), targets: [{ backend: 'fake', device: 'fake:0', impls: ['steady'] }, { backend: 'cpu', device: 'cpu', impls: ['scalar'], threads: [1] }] })
  opened = await launch({ dataDir, env: { OPSCOPE_TEST_BACKEND: '1', OPSCOPE_TEST_DISTURBANCE: DISTURBANCE } })
  page = opened.page
})
afterAll(async () => {
  await opened.close()
  rmSync(dataDir, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 })
})

const stored = () => (JSON.parse(readFileSync(join(dataDir, 'settings.json'), 'utf8')) as Partial<Settings>).presets
const quick = () => page.getByRole('group', { name: 'Preset quick' })
/** Opens the details of the only row whose text holds this. */
async function openRow(text: string): Promise<void> {
  await page.getByRole('searchbox', { name: 'Filter rows' }).fill(text)
  await expect.poll(async () => (await tableRows(page)).length).toBe(1)
  await grid(page).focus()
  await page.keyboard.press('Home')
  await page.keyboard.press('Enter')
  await details(page).getByRole('heading', { name: /^add / }).waitFor()
}

describe('before a run', () => {
  it('it is said what disturbs the picked devices, beside the button and when the run starts', async () => {
    await page.getByRole('list', { name: 'Possible interference on the chosen devices' }).getByText(DISTURBANCE).waitFor()
    expect(await runToEnd(page)).toBe('Finished: 2 results.')
    await messages(page).getByText(new RegExp(`^Warning: possible interference. .*${DISTURBANCE.replace(/[()]/g, '\\$&')}`)).waitFor()
    await dismissMessages(page)
  })
})

describe('the rule of a preset', () => {
  it('is changed in the settings; a number that cannot be is told and not kept', async () => {
    await view(page, 'Settings')
    await quick().getByRole('combobox', { name: 'Stop' }).selectOption({ label: 'Fixed number of samples' })
    await quick().getByRole('textbox', { name: 'Samples' }).fill('37')
    await expect.poll(stored).toMatchObject({ quick: { rule: { id: 'fixed-count', count: 37 } } })
    for (const [bad, ending] of [['many', ', not “many”.'], ['0', ', not 0.'], ['2.5', ', not 2.5.'], ['', '.']] as const) {
      await quick().getByRole('textbox', { name: 'Samples' }).fill(bad)
      await quick().getByText(`Expected a whole number from 1 to 1,000,000${ending}`, { exact: true }).waitFor()
      await expect.poll(() => quick().getByRole('textbox', { name: 'Samples' }).getAttribute('aria-invalid')).toBe('true')
    }
    expect(stored()).toMatchObject({ quick: { rule: { id: 'fixed-count', count: 37 } } })
    // What was typed is gone with the view; what is kept is shown.
    await view(page, 'Run')
    await page.getByText('Takes 37 samples of each case').waitFor()
    await view(page, 'Settings')
    await expect.poll(() => quick().getByRole('textbox', { name: 'Samples' }).inputValue()).toBe('37')
  })

  it('is what the next run goes by, and its result says so', async () => {
    await view(page, 'Run')
    expect(await runToEnd(page)).toBe('Finished: 2 results.')
    await openRow('fake steady')
    for (const said of [/Stopped because\s+37 samples taken/, /Samples\s+37/]) await expect.poll(() => details(page).innerText()).toMatch(said)
    await page.getByRole('button', { name: 'Close details (Esc)' }).click()
  })

  it('goes back to what it came with', async () => {
    await view(page, 'Settings')
    await quick().getByRole('button', { name: 'Reset' }).click()
    await expect.poll(() => quick().getByRole('combobox', { name: 'Stop' }).inputValue()).toBe('relative-ci')
    await expect.poll(stored).toEqual({})
    await expect.poll(() => quick().getByRole('button', { name: 'Reset' }).count()).toBe(0)
  })
})

describe('a device in trouble', () => {
  it('that is throttled leaves no clean sample: the row is kept with grade C, and the reasons are one click away', async () => {
    await view(page, 'Run')
    await pickImpls(page, 'fake', ['throttled'])
    expect(await runToEnd(page)).toBe('Finished: 2 results.')
    await page.getByRole('button', { name: 'Open session' }).click()
    await expect.poll(() => rowCount(page)).toBe(2)
    await openRow('fake throttled')
    await expect.poll(async () => (await tableRows(page))[0]).toMatchObject({ status: 'ok', grade: 'C', verified: 'passed' })
    for (const said of [/No clean sample: throttled \(power limit\) in (\d+) of \1\./, /Grade C/, /Throttled\s+(\d+) of \1: power limit\s+Unlabelled\s+0 of \1/]) await expect.poll(() => details(page).innerText()).toMatch(said)
    await page.getByRole('button', { name: 'Close details (Esc)' }).click()
    await page.getByRole('searchbox', { name: 'Filter rows' }).fill('')
  })

  it('that vanishes ends its cases as failed, in the words of its driver, and the run goes on with the others', async () => {
    await view(page, 'Run')
    await pickImpls(page, 'fake', ['vanish', 'steady'])
    await page.getByRole('textbox', { name: 'Vectors (elements)' }).fill('64, 128, 256')
    await page.getByText('9 cases').waitFor()
    expect(await runToEnd(page)).toBe('Finished: 9 results, 3 of them failed.')
    await page.getByRole('searchbox', { name: 'Filter rows' }).fill('')
    await expect.poll(() => rowCount(page)).toBe(9)
    await expect.poll(async () => (await tableRows(page)).length).toBe(9)
    const rows = await tableRows(page)
    const statuses = (backend: string) => rows.filter((row) => row['backend'] === backend).map((row) => row['status'])
    expect(statuses('fake vanish')).toEqual(['failed', 'failed', 'failed'])
    expect(statuses('cpu scalar')).toEqual(['ok', 'ok', 'ok'])
    // A new process finds the device again.
    expect(statuses('fake steady')).toEqual(['ok', 'ok', 'ok'])
    await openRow('fake vanish 64')
    await expect.poll(() => details(page).innerText()).toContain('The device is gone.')
    await details(page).getByText('Technical details', { exact: true }).click()
    await details(page).getByText('fake: no such device (100)').waitFor()
  })
})

it('no error is written to the console on the way', () => {
  expect(opened.pageErrors).toEqual([])
})
