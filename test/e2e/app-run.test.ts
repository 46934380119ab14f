import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { launch, SOFTWARE_GPU, type Launched } from './launch'
import { coloursDrawn, ended, endOf, rowCount, showChart, statusBar, tableRows } from './ui'

let opened: Launched
let page: Page
beforeAll(async () => {
  opened = await launch({ env: SOFTWARE_GPU })
  page = opened.page
})
afterAll(() => opened.close())

const box = (name: string | RegExp) => page.getByRole('checkbox', { name, exact: true })
const runButton = () => page.getByRole('button', { name: /^Run/ })

/** Leaves exactly these backends picked, each with the implementations the app prefers. */
async function pickBackends(wanted: readonly string[]): Promise<void> {
  const list = page.getByRole('list', { name: 'Backends and devices' })
  // Devices are listed as they are found.
  await list.getByText(/^Looking for /).waitFor({ state: 'detached' })
  for (const backend of wanted) await expect.poll(() => list.getByRole('checkbox', { name: new RegExp(`^${backend} `) }).first().isEnabled()).toBe(true)
  for (const tick of await list.getByRole('checkbox').all()) {
    if (await tick.isDisabled()) continue
    if ((await tick.getAttribute('aria-checked')) !== 'false') await tick.click()
    if (wanted.includes((await tick.getAttribute('aria-label'))!.split(' ')[0]!)) await tick.click()
  }
}

describe('the run view, in the order of a first use', () => {
  it('starts with one offer, and lets the user pick instead', async () => {
    await page.getByRole('button', { name: 'Measure this machine' }).waitFor()
    await page.getByRole('button', { name: 'Choose manually' }).click()
    await page.getByText('No results yet').waitFor()
  })

  it('searches, picks and drops operations', async () => {
    const tree = page.getByRole('tree', { name: 'Operations' })
    await page.getByRole('button', { name: 'None', exact: true }).click()
    await page.getByText('0 cases').waitFor()
    await expect.poll(() => runButton().isDisabled()).toBe(true)
    await page.getByRole('searchbox', { name: 'Search operations' }).fill('linear unit with erf')
    await expect.poll(() => tree.getByRole('checkbox').count()).toBe(2)
    await box('gelu').click()
    await page.getByRole('searchbox', { name: 'Search operations' }).fill('nothing like it')
    await page.getByText('No operation matches “nothing like it”.').waitFor()
    await page.getByRole('searchbox', { name: 'Search operations' }).fill('')
    for (const family of ['activation', 'binary', 'softmax']) await page.getByRole('button', { name: `Unfold the ${family} family` }).click()
    await box('add').click()
    await box('softmax').click()
    await expect.poll(async () => [await box('gelu').isChecked(), await box('softmax').isChecked()]).toEqual([true, true])
    // Partly picked: the first click picks the rest.
    await box('softmax family').click()
    await box('softmax family').click()
    await expect.poll(() => box('softmax').isChecked()).toBe(false)
  })

  it('takes sizes from a preset or as text, and says where a text is wrong', async () => {
    const sizes = page.getByRole('textbox', { name: 'Vectors (elements)' })
    await page.getByLabel('Size preset').selectOption({ label: 'Small' })
    await expect.poll(() => sizes.inputValue()).toBe('64Ki, 256Ki')
    await page.getByText('2 sizes: 64Ki and 256Ki').waitFor()
    await sizes.fill('1Ki, 2^^3')
    await page.locator('#sizes-vector u').waitFor()
    await expect.poll(() => sizes.getAttribute('aria-invalid')).toBe('true')
    await expect.poll(() => runButton().isDisabled()).toBe(true)
    await sizes.fill('2^10..2^14 x4')
    await page.getByText('3 sizes: 1Ki to 16Ki').waitFor()
    await expect.poll(() => page.getByLabel('Size preset').inputValue()).toBe('')
  })

  it('runs the picks on CPU and WebGPU, with rows, charts and progress that follow', async () => {
    await pickBackends(['cpu', 'webgpu'])
    await page.getByRole('radiogroup', { name: 'Thoroughness' }).getByText('quick').click()
    for (const dtype of ['f16', 'bf16']) if (await box(dtype).isChecked()) await box(dtype).click()
    if (!(await box('f32').isChecked())) await box('f32').click()
    for (const mode of ['cold', 'graph']) if (await box(mode).isChecked()) await box(mode).click()
    if (!(await box('hot').isChecked())) await box('hot').click()
    await page.getByText('12 cases').waitFor()
    await expect.poll(() => runButton().isEnabled()).toBe(true)
    // Rows come while the run goes on. Watched in the page itself: a busy machine may finish the run between two steps of the test.
    const during = page.evaluate(() => new Promise<Record<string, unknown>>((done) => {
      const watch = new MutationObserver(() => {
        const bar = document.querySelector('footer[aria-label="Run progress"]')!
        const rows = Number(document.querySelector('[role=grid][aria-label=Results]')?.getAttribute('aria-rowcount') ?? 1) - 1
        if (!/(Starting|Running) \d+\/12/.test(bar.textContent) || rows < 1) return
        watch.disconnect()
        const buttons = [...document.querySelectorAll('button')]
        done({ max: bar.querySelector('[role=progressbar]')?.getAttribute('aria-valuemax'), stop: buttons.some((one) => one.textContent.trim() === 'Stop' && !one.disabled), run: buttons.some((one) => /^Run/.test(one.textContent.trim()) && !one.disabled) })
      })
      watch.observe(document.body, { subtree: true, childList: true, characterData: true, attributes: true })
    }))
    expect(await endOf(page, () => runButton().click())).toMatch(/^Finished/)
    expect(await during).toEqual({ max: '12', stop: true, run: false })
    await expect.poll(async () => (await tableRows(page)).length).toBe(12)
    const rows = await tableRows(page)
    for (const row of rows) expect(row).toMatchObject({ dtype: 'f32', mode: 'hot', status: 'ok', verified: 'passed' })
    for (const row of rows) expect(Number(row['median'])).toBeGreaterThan(0)
    expect([...new Set(rows.map((row) => `${row['op']} ${row['shape']}`))].sort()).toEqual(['add 16Ki', 'add 1Ki', 'add 4Ki', 'gelu 16Ki', 'gelu 1Ki', 'gelu 4Ki'])
    expect(new Set(rows.map((row) => row['backend']!.split(' ')[0]))).toEqual(new Set(['cpu', 'webgpu']))
    for (const tab of ['time', 'throughput', 'roofline']) {
      await showChart(page, tab)
      await expect.poll(() => coloursDrawn(page)).toBeGreaterThan(5)
    }
  })

  it('pauses, resumes, and keeps what is done when stopped', async () => {
    await page.getByRole('textbox', { name: 'Vectors (elements)' }).fill('1000..1039 step 1')
    await expect.poll(() => runButton().isEnabled()).toBe(true)
    await runButton().click()
    // The rows of the run before are gone.
    await statusBar(page).getByText(/^(Starting|Running) \d+\/\d\d\d$/).waitFor()
    await expect.poll(() => rowCount(page), { timeout: 60_000 }).toBeGreaterThan(1)
    await statusBar(page).getByRole('button', { name: 'Pause' }).click()
    await statusBar(page).getByText(/^Paused/).waitFor()
    await statusBar(page).getByRole('button', { name: 'Resume' }).click()
    await statusBar(page).getByText(/^Running/).waitFor()
    const before = await rowCount(page)
    await expect.poll(() => rowCount(page), { timeout: 60_000 }).toBeGreaterThan(before)
    await statusBar(page).getByRole('button', { name: 'Stop' }).click()
    const kept = Number(/^Stopped: (\d+) of \d+ cases/.exec(await ended(page))?.[1])
    await expect.poll(() => rowCount(page)).toBe(kept)
    await page.getByRole('button', { name: 'Open session' }).click()
    await page.getByText(new RegExp(`stopped early, ${kept} of \\d+ cases`)).waitFor()
    await expect.poll(() => rowCount(page)).toBe(kept)
    // A narrow window has room for the name of the session and what became of it, beside Resume or above it.
    await opened.app.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows().find((one) => one.isVisible())?.setContentSize(900, 600))
    await expect.poll(() => page.evaluate(() => innerWidth)).toBe(900)
    await page.getByRole('button', { name: 'Resume' }).waitFor()
    await expect.poll(async () => {
      const name = (await page.getByRole('heading', { level: 1 }).boundingBox())!
      const state = (await page.getByText(/^stopped early/).boundingBox())!
      const resume = (await page.getByRole('button', { name: 'Resume' }).boundingBox())!
      return { wide: name.width > 120, afterName: state.x >= name.x + name.width, clear: state.x + state.width <= resume.x || state.y + state.height <= resume.y }
    }).toEqual({ wide: true, afterName: true, clear: true })
  })

  it('writes no error to the console on the way', () => {
    expect(opened.pageErrors).toEqual([])
  })
})
