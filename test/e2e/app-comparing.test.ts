import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { PRESETS } from '@core/measure/settings'
import { launch, type Launched } from './launch'
import { dataRows, ended, endOf, runToEnd, scripted, sessions, statusBar, view } from './ui'

const dataDir = mkdtempSync(join(tmpdir(), 'opscope-comparing-'))
let opened: Launched
let page: Page

beforeAll(async () => {
  // So few samples that a case with a long one among three is clear at no size.
  const presets = { quick: { ...PRESETS.quick, rule: { id: 'fixed-count', count: 6 } } }
  writeFileSync(join(dataDir, 'settings.json'), JSON.stringify({ sweep: scripted(['steady', 'third-slow'], '64, 128, 256'), presets }))
  opened = await launch({ dataDir, env: { OPSCOPE_TEST_BACKEND: '1', OPSCOPE_TEST_REAL_TIME: '1' } })
  page = opened.page
  expect(await runToEnd(page)).toBe('Finished: 6 results.')
})
afterAll(async () => {
  await opened.close()
  rmSync(dataDir, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 })
})

const table = () => page.getByRole('table', { name: 'Comparison by case' })
const more = () => page.getByRole('button', { name: /^Resolve unclear cases/ })
const verdicts = async () => (await dataRows(table()).allInnerTexts()).map((text) => /(faster|slower|same|unclear)/.exec(text)?.[1])
const unclear = async () => (await verdicts()).filter((verdict) => verdict === 'unclear').length
const cell = () => page.getByRole('region', { name: 'Details of the comparison' })

async function compareInside(session: string): Promise<void> {
  await view(page, 'History')
  await dataRows(sessions(page)).filter({ hasText: session }).last().dblclick()
  await page.getByRole('button', { name: 'Compare inside this session' }).click()
  await table().getByText('Baseline: fake third-slow').or(table().getByText('Baseline: fake steady')).waitFor()
}

describe('what is unclear inside a session', () => {
  it('is told, and resolved by interleaved measurements when asked', async () => {
    await compareInside('add · f32')
    await page.getByRole('combobox', { name: 'Baseline' }).selectOption('fake steady')
    await table().getByText('Baseline: fake steady').waitFor()
    await expect.poll(unclear).toBeGreaterThan(0)
    await expect.poll(async () => (await more().innerText()) === `Resolve unclear cases (${await unclear()})`).toBe(true)
    await more().click()
    const progress = page.getByRole('progressbar', { name: 'Resolving unclear cases' })
    await progress.waitFor()
    await expect.poll(() => progress.getAttribute('aria-valuenow').then(Number)).toBeGreaterThan(3)
    await page.getByText(/^Resolving unclear cases, \d+ of \d+/).waitFor()
  })

  it('keeps what was measured when it is stopped in the middle', async () => {
    await page.getByRole('main').getByRole('button', { name: 'Stop' }).click()
    const measured = Number(/^Stopped: (\d+) of/.exec(await ended(page))![1])
    expect(measured).toBeGreaterThan(0)
    await more().waitFor()
    await view(page, 'History')
    const row = dataRows(sessions(page)).filter({ hasText: 'unclear cases' })
    await expect.poll(async () => (await row.getByRole('gridcell').allInnerTexts()).slice(2, 4)).toEqual(['stopped early', String(measured)])
    // An interleaved comparison that was cut off is not offered to be taken up again.
    await row.dblclick()
    await page.getByText('interleaved', { exact: true }).waitFor()
    expect(await page.getByRole('button', { name: 'Resume' }).count()).toBe(0)
  })

  it('is clear when the turns have been measured to their end, and the verdicts are of them', async () => {
    await compareInside('add · f32')
    await page.getByRole('combobox', { name: 'Baseline' }).selectOption('fake steady')
    await table().getByText('Baseline: fake steady').waitFor()
    await expect.poll(unclear).toBeGreaterThan(0)
    const first = (await verdicts()).indexOf('unclear')
    expect(await endOf(page, () => more().click())).toMatch(/^Finished/)
    await expect.poll(async () => new Set(await verdicts())).toEqual(new Set(['same']))
    await expect.poll(() => more().isDisabled()).toBe(true)
    await dataRows(table()).nth(first).getByText('same').click()
    await cell().getByText('Interleaved', { exact: true }).waitFor()
    const quads = Number(/(\d+) ABBA quads/.exec(await cell().innerText())![1])
    expect(quads).toBeGreaterThanOrEqual(6)
    await page.keyboard.press('Escape')
  })

  it('is not decided by the answer of the session, which leads to Compare, nor by a single block', async () => {
    await view(page, 'History')
    await dataRows(sessions(page)).filter({ hasText: 'unclear cases' }).first().dblclick()
    await page.getByText('Each row is one block of an interleaved comparison.').waitFor()
    expect(await page.getByTestId('session-answer').count()).toBe(0)
    await page.getByRole('link', { name: 'Open the session it adds to' }).or(page.getByTitle('Open the session it adds to')).first().click()
    await page.getByTestId('session-answer').getByRole('link', { name: 'Interleaved blocks in Compare' }).click()
    await table().waitFor()
    expect(new URL(page.url()).hash).toContain('within=')
  })
})

describe('a sweep in fresh processes', () => {
  it('is repeated as often as asked, and compared run by run', async () => {
    await view(page, 'Run')
    await page.getByRole('button', { name: 'One repeat more' }).click()
    await expect.poll(() => page.getByRole('textbox', { name: 'Repeats' }).inputValue()).toBe('2')
    await page.getByText('× 2').waitFor()
    expect(await runToEnd(page)).toBe('Finished: 12 results.')
    expect(await runToEnd(page)).toBe('Finished: 12 results.')
    await view(page, 'History')
    // The sweep, two comparisons of its unclear cases, and the two of now.
    await expect.poll(() => dataRows(sessions(page)).count()).toBe(5)
    await dataRows(sessions(page)).nth(0).click()
    await dataRows(sessions(page)).nth(1).click({ modifiers: ['Control'] })
    await page.getByRole('button', { name: /Compare the selected/ }).click()
    // Both runs of a case are one row.
    await expect.poll(() => dataRows(table()).count()).toBe(6)
    await table().focus()
    await page.keyboard.press('Home')
    await cell().getByText('2, baseline 2').waitFor()
    await page.keyboard.press('Escape')
    await expect.poll(async () => (await verdicts()).every((verdict) => verdict !== undefined)).toBe(true)
    // Between sessions nothing can be interleaved, and it is said why.
    if (await unclear()) {
      await more().click()
      await page.getByText('Cases of different sessions cannot be interleaved').waitFor()
      await page.keyboard.press('Escape')
    }
    expect(await statusBar(page).innerText()).not.toContain('Running')
  })
})

it('no error is written to the console on the way', () => {
  expect(opened.pageErrors).toEqual([])
})
