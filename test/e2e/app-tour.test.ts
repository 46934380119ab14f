import { existsSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { launch, type Launched } from './launch'
import { coloursDrawn, ended, rowCount, showChart, statusBar, tableRows, view } from './ui'

let opened: Launched
let page: Page
beforeAll(async () => {
  opened = await launch()
  page = opened.page
  await opened.app.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows().find((one) => one.isVisible())?.setContentSize(1440, 900))
})
afterAll(() => opened.close())

/** Whether an operation is one that ceilings are measured with. */
const ofCeilings = (op: string) => /^(peak_|stream_|copy|sum|fill)/.test(op)

describe('the first start', () => {
  it('measures the ceilings of this machine with one button, then tours the operations', async () => {
    await page.getByRole('button', { name: 'Measure this machine' }).click()
    await statusBar(page).getByText('Step 1 of 2: ceilings').waitFor()
    await statusBar(page).getByText(/left in total$/).waitFor()
    // The tour begins by itself when the ceilings are known; its rows have a share of them.
    await expect.poll(async () => (await tableRows(page)).filter((row) => ofCeilings(row['op']!)).length, { timeout: 400_000 }).toBeGreaterThan(0)
    await expect.poll(async () => (await tableRows(page)).some((row) => /[1-9]/.test(row['efficiency'] ?? '') && !ofCeilings(row['op']!)), { timeout: 400_000 }).toBe(true)
    await statusBar(page).getByText('Step 2 of 2: one operation of each family').waitFor()
    await statusBar(page).getByRole('button', { name: 'Stop' }).click()
    expect(await ended(page)).toMatch(/^Stopped: \d+ of \d+ cases/)
    await expect.poll(() => rowCount(page)).toBeGreaterThan(0)
    const summary = page.getByRole('region', { name: 'Summary of this machine' })
    await summary.getByText('Copy bandwidth').waitFor()
    const grades = summary.getByText(/^\d+ A, \d+ B, \d+ C\./)
    await grades.waitFor()
    // Beside the ceilings, without a scroll of the summary.
    await expect.poll(async () => {
      const [outer, inner] = [(await summary.boundingBox())!, (await grades.boundingBox())!]
      return inner.y + inner.height - (outer.y + outer.height)
    }).toBeLessThanOrEqual(0)
    await summary.getByRole('button', { name: 'Close the summary' }).click()
    await showChart(page, 'roofline')
    await expect.poll(() => coloursDrawn(page)).toBeGreaterThan(5)
    expect(await page.getByText('No roofs:').count()).toBe(0)
    // Twenty ceilings are some 40 s on a machine that does nothing else.
  }, 1_000_000)

  it('has the noise of its session in one line where the answer leaves room for it', async () => {
    await page.getByRole('button', { name: 'Open session' }).click()
    const noise = page.getByTestId('session-noise')
    await expect.poll(() => noise.evaluate((line) => line.getClientRects()[0]!.height / Number.parseFloat(getComputedStyle(line).lineHeight))).toBeCloseTo(1, 0)
  })

  it('keeps the ceilings, which the devices view shows', async () => {
    await view(page, 'Devices')
    const cpu = page.getByRole('article', { name: /^cpu / })
    const table = cpu.getByTestId('ceilings')
    await table.getByText('Copy bandwidth').waitFor()
    const row = (title: string, unit: string) => new RegExp(`${title}\\s+[\\d.]+ ${unit}\\s+<?±[\\d.]+ %\\s+(Today|Yesterday) \\d\\d:\\d\\d`)
    // Some virtual machines tell nothing of their caches, which have no ceilings then.
    const caches = existsSync('/sys/devices/system/cpu/cpu0/cache') ? [['L2 bandwidth', '[GT]B/s'] as const] : []
    for (const [title, unit] of [['Copy bandwidth', '[GT]B/s'], ...caches, ['Peak f32', '[GT]FLOP/s']] as const) await expect.poll(() => table.innerText()).toMatch(row(title, unit))
    // A processor has no driver, and none of its figures is in a datasheet: no column of dashes stands for them.
    await expect.poll(() => table.getByRole('columnheader').allInnerTexts()).toEqual(['Ceiling', 'Measured', '95 % CI ±', 'When'])
    await expect.poll(() => cpu.getByTestId('launch').innerText()).toMatch(/^Launch overhead\s+back to back [\d.]+ [nµ]s\s+after a flush [\d.]+ [nµm]s/)
    await expect.poll(() => cpu.locator('canvas').count()).toBeGreaterThan(0)
    await view(page, 'History')
    await page.getByText('First tour: one operation of each family').waitFor()
    expect(opened.pageErrors).toEqual([])
  })
})
