import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import type { SessionFile } from '@core/session/types'
import { Cli } from './cli'
import { launch, SOFTWARE_GPU, type Launched } from './launch'
import { coloursDrawn, dataRows, details, grid, sessions, showChart, view } from './ui'

/** 510 results of an H200 and its host, measured with this app. */
const MEASURED = join(import.meta.dirname, '../bench/results/app-session.json.gz')

const cli = new Cli()
let opened: Launched
let page: Page

const chart = () => page.getByRole('region', { name: 'Charts' }).getByTestId('chart')
const selectedRows = () => grid(page).locator('[role=row][aria-selected=true]').count()

const show = (id: string) => showChart(page, id)

/** Narrows the table to what holds this text, or shows all 510 rows again. */
async function filterRows(text: string): Promise<void> {
  await page.getByRole('searchbox', { name: 'Filter rows' }).fill(text)
  await page.getByText(text ? /^\d+ of 510 rows/ : /^510 rows/).waitFor()
}

/** Lets go of the rows that are selected. */
async function selectNone(): Promise<void> {
  await grid(page).focus()
  await page.keyboard.press('Escape')
  await expect.poll(selectedRows).toBe(0)
}

/** What the chart looks like, as a number that other pixels change. */
const picture = () =>
  chart().evaluate((host) => {
    let hash = 0
    for (const canvas of host.querySelectorAll('canvas')) {
      const pixels = new Uint32Array(canvas.getContext('2d')!.getImageData(0, 0, canvas.width, canvas.height).data.buffer)
      for (let i = 0; i < pixels.length; i += 3) hash = (Math.imul(hash, 31) + pixels[i]!) >>> 0
    }
    return hash
  })

/** Waits until the chart has stopped changing: three looks with frames between them see the same. Returns what it looks like. */
async function settled(): Promise<number> {
  const looks: number[] = []
  await expect.poll(async () => {
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))))
    looks.push(await picture())
    return looks.length >= 3 && new Set(looks.slice(-3)).size === 1
  }, { interval: 75 }).toBe(true)
  return looks.at(-1)!
}

async function openSession(name: string, rows: number): Promise<void> {
  await view(page, 'History')
  await dataRows(sessions(page)).filter({ hasText: name }).dblclick()
  await page.getByText(`${rows} rows`, { exact: true }).waitFor()
}

/** The same session, called Threads, with each result once more for two threads: whether this machine has two processors does not matter here. */
function withTwoThreads(file: SessionFile): SessionFile {
  const faster = (ns: number) => ns / 1.8
  const doubled = file.results.map((result) => {
    const summary = Object.fromEntries(Object.entries(result.summary!).map(([name, value]) => [name, name.endsWith('Ns') && typeof value === 'number' ? faster(value) : value]))
    return { ...result, id: `${result.id}-2`, case: { ...result.case, threads: 2 }, samplesNs: result.samplesNs.map(faster), summary } as typeof result
  })
  return { ...file, session: { ...file.session, id: 'threads', name: 'Threads', planned: 4 }, results: [...file.results, ...doubled] }
}

beforeAll(async () => {
  const file = join(cli.folder, 'measured.json')
  writeFileSync(file, gunzipSync(readFileSync(MEASURED)))
  expect((await cli.run(['import', file])).status).toBe(0)
  expect((await cli.run(['run', '--name', 'Measured', '--ops', 'add', '--sizes', 'vector=4096,65536', '--backends', 'cpu', '--impls', 'scalar', '--threads', '1', '--modes', 'hot', '--preset', 'quick'])).status).toBe(0)
  const one = await cli.run(['export', 'last', '--format', 'json'])
  writeFileSync(file, JSON.stringify(withTwoThreads(JSON.parse(one.out) as SessionFile)))
  expect((await cli.run(['import', file])).status).toBe(0)
  opened = await launch({ dataDir: cli.folder, env: SOFTWARE_GPU })
  page = opened.page
  await page.setViewportSize({ width: 1440, height: 900 })
  await openSession('H200', 510)
})
afterAll(async () => {
  await opened?.close()
  rmSync(cli.folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 })
})

describe('charts of a real session', () => {
  for (const id of ['time', 'throughput', 'roofline', 'distribution', 'speedup', 'heat-map', 'crossover', 'parallel']) {
    it(`${id}: draws, and shows what is selected in the table`, async () => {
      await show(id)
      await expect.poll(() => coloursDrawn(page)).toBeGreaterThan(5)
      const before = await settled()
      // The baseline of speedups has no bar: one of the first bars is of this row.
      const filters: Record<string, string> = { crossover: 'webgpu hot 256Ki', speedup: 'gelu webgpu f32 hot 4Mi' }
      await filterRows(filters[id] ?? 'gelu cuda f32 cold')
      const rows = dataRows(grid(page))
      // A crossover is that of the winner's result at the next size, which is one of these rows.
      const wanted = id === 'crossover' ? await rows.count() : 1
      for (let i = 0; i < wanted; i++) await rows.nth(i).click({ modifiers: i ? ['Control'] : [] })
      await expect.poll(selectedRows).toBe(wanted)
      await filterRows('')
      // Hovered rows are shown in the chart too; this is about the selected ones.
      await page.mouse.move(4, 4)
      await expect.poll(settled).not.toBe(before)
      await selectNone()
    })
  }

  it('zooms and pans by drag, goes back, isolates a line, fills the window and copies its picture', async () => {
    await show('time')
    const all = await settled()
    await page.getByLabel('Shown operations').selectOption('add')
    await expect.poll(settled).not.toBe(all)
    const box = (await chart().boundingBox())!
    let before = await settled()
    /** Waits until the chart has changed. */
    const changed = async () => {
      await page.mouse.move(4, 4)
      await expect.poll(async () => (await settled()) === before).toBe(false)
      before = await settled()
    }
    const drag = async (from: number, to: number) => {
      await page.mouse.move(box.x + box.width * from, box.y + box.height * 0.4)
      await page.mouse.down()
      await page.mouse.move(box.x + box.width * to, box.y + box.height * 0.6, { steps: 6 })
      await page.mouse.up()
      await changed()
    }
    await drag(0.3, 0.5)
    await page.getByRole('button', { name: 'Drag to pan' }).click()
    await drag(0.4, 0.5)
    await page.getByRole('button', { name: 'Drag to zoom' }).click()
    await page.getByRole('button', { name: 'Reset the view' }).click()
    await changed()
    // The first name of the legend.
    await page.mouse.click(box.x + 60, box.y + 12)
    await page.getByText(/^Only .+ is shown$/).waitFor({ state: 'attached' })
    await changed()
    await page.getByRole('button', { name: 'Reset the view' }).click()
    await page.getByText(/^Only .+ is shown$/).waitFor({ state: 'detached' })
    await changed()
    await page.getByRole('button', { name: 'Full screen' }).click()
    await expect.poll(async () => (await chart().boundingBox())!.height).toBeGreaterThan(700)
    await page.keyboard.press('Escape')
    await expect.poll(async () => (await chart().boundingBox())!.height).toBe(box.height)
    await page.getByRole('button', { name: 'Copy the chart as a picture' }).click()
    await page.getByText('Copied the chart as a picture.').waitFor()
    before = await settled()
    await page.getByLabel('Values').selectOption('cpu avx512')
    await changed()
    await page.getByLabel('Values').selectOption('absolute')
    await changed()
    await page.getByLabel('Scale').selectOption('linear')
    await changed()
    await page.getByLabel('Scale').selectOption('log')
    await page.getByLabel('Shown operations').selectOption('')
    await changed()
  })

  it('isolates a series by keyboard, and keeps that with chart, filter and order as a view that comes back', async () => {
    await openSession('H200', 510)
    await show('throughput')
    const alone = page.getByLabel('Series shown alone')
    await alone.focus()
    await page.keyboard.press('ArrowDown')
    await expect.poll(() => alone.inputValue()).not.toBe('')
    const series = await alone.inputValue()
    await page.getByText(`Only ${series} is shown`).waitFor({ state: 'attached' })
    await page.getByLabel('Filter rows').fill('softmax')
    await page.keyboard.press('Control+Shift+S')
    await page.getByLabel('Save this view as').fill('Softmax alone')
    await page.keyboard.press('Enter')
    await page.getByText('Saved the view “Softmax alone”.').waitFor()
    await show('roofline')
    await page.getByLabel('Filter rows').fill('')
    await page.reload()
    await openSession('H200', 510)
    await page.keyboard.press('Control+K')
    await page.getByLabel('Command', { exact: true }).fill('softmax alone')
    await page.keyboard.press('Enter')
    await expect.poll(() => alone.inputValue()).toBe(series)
    await expect.poll(async () => [await page.getByTestId('chart-tab-throughput').getAttribute('aria-selected'), await page.getByLabel('Filter rows').inputValue()]).toEqual(['true', 'softmax'])
    await page.keyboard.press('Control+Z')
    await expect.poll(() => page.getByLabel('Filter rows').inputValue()).toBe('')
    await page.keyboard.press('Control+Shift+S')
    await page.getByRole('button', { name: 'Delete Softmax alone' }).click()
    await page.getByText('None yet.').waitFor()
    await page.keyboard.press('Escape')
  })

  it('keeps the tooltip with the row that is hovered while it is selected and opened', async () => {
    await show('time')
    await settled()
    const row = dataRows(grid(page)).nth(0)
    const tip = () => chart().first().locator('div:has(> table)').last()
    await row.hover()
    await expect.poll(() => tip().isVisible()).toBe(true)
    const words = await tip().innerText()
    const { width } = (await chart().boundingBox())!
    await row.click()
    await page.keyboard.press('Enter')
    await details(page).getByRole('heading', { name: 'Statistics' }).waitFor()
    // The details have made the chart narrower, and every point lies elsewhere.
    await expect.poll(async () => (await chart().boundingBox())!.width).toBeLessThan(width)
    await settled()
    await expect.poll(async () => (await tip().isVisible()) && (await tip().innerText())).toBe(words)
    await page.keyboard.press('Escape')
  })

  it('selects the row of the bar that is clicked', async () => {
    await show('speedup')
    await selectNone()
    await page.getByLabel('Baseline', { exact: true }).selectOption('cpu avx512')
    await expect.poll(() => page.getByLabel('Baseline', { exact: true }).inputValue()).toBe('cpu avx512')
    await settled()
    const box = (await chart().boundingBox())!
    await page.mouse.click(box.x + box.width * 0.5, box.y + 62)
    await expect.poll(selectedRows).toBe(1)
    await expect.poll(() => grid(page).locator('[role=row][aria-selected=true]').innerText()).toMatch(/cuda kernel|webgpu wgsl/)
  })

  it('turns a speedup round with its baseline', async () => {
    const before = await settled()
    await page.getByLabel('Baseline', { exact: true }).selectOption('cuda kernel')
    await expect.poll(settled).not.toBe(before)
  })

  it('selects what a brushed axis holds, and lets it go with a double click', async () => {
    await selectNone()
    await show('parallel')
    await settled()
    const box = (await chart().boundingBox())!
    await page.mouse.move(box.x + box.width - 74, box.y + box.height * 0.3)
    await page.mouse.down()
    await page.mouse.move(box.x + box.width - 74, box.y + box.height * 0.5, { steps: 6 })
    await page.mouse.up()
    const words = page.getByText(/\d+ rows, [\d,]+ selected/)
    await words.waitFor()
    const count = Number(/(\d+) selected/.exec((await words.textContent())!)![1])
    expect(count).toBeGreaterThan(0)
    expect(count).toBeLessThan(510)
    await page.mouse.dblclick(box.x + box.width * 0.5, box.y + 6)
    await expect.poll(() => words.count()).toBe(0)
  })

  it('lays the samples of several results over each other', async () => {
    await show('distribution')
    const rows = dataRows(grid(page))
    await rows.nth(0).click()
    await page.getByLabel('Scale').waitFor({ state: 'detached' })
    await rows.nth(4).click({ modifiers: ['Control'] })
    await page.getByLabel('Scale').waitFor()
    await expect.poll(() => coloursDrawn(page)).toBeGreaterThan(5)
  })

  it('lays another session over this one, and compares with it', async () => {
    await show('time')
    await page.getByLabel('Shown operations').selectOption('add')
    const before = await settled()
    await page.getByRole('button', { name: '+ Session' }).click()
    await page.getByRole('checkbox', { name: /Threads/ }).check()
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: '+ 1 session' }).waitFor()
    await expect.poll(settled).not.toBe(before)
    await show('speedup')
    await expect.poll(() => page.getByLabel('Baseline', { exact: true }).locator('option').allInnerTexts()).toContain('over Threads')
  })

  it('says what is missing where a chart cannot be drawn', async () => {
    await show('scaling')
    await page.getByLabel('Along').selectOption('threads')
    await expect.poll(() => chart().getByTestId('chart-empty').innerText()).toContain('thread counts')
    await expect.poll(() => page.getByRole('button', { name: 'Export chart as CSV' }).isDisabled()).toBe(true)
  })

  it('says its answer in whole in a small window', async () => {
    await page.setViewportSize({ width: 1024, height: 700 })
    const answer = page.getByTestId('session-answer')
    await expect.poll(() => answer.innerText()).toMatch(/cuda kernel is fastest in 9 of 9 operations\.\s+1\.216x faster than webgpu wgsl \(geometric mean over 110 cases, 95 % CI .*\)[^]*grades: .* C/)
    const cut = () => answer.evaluate((whole) => [whole, ...whole.querySelectorAll<HTMLElement>('*')].filter((part) => part.clientWidth > 0 && (part.scrollWidth > part.clientWidth + 1 || part.getBoundingClientRect().right > innerWidth)).map((part) => part.textContent))
    await expect.poll(() => page.evaluate(() => innerWidth)).toBe(1024)
    await expect.poll(cut).toEqual([])
    // The plot keeps its height, and the table the columns that answer.
    await expect.poll(async () => (await page.getByRole('tabpanel').boundingBox())!.height).toBeGreaterThanOrEqual(240)
    await expect.poll(() => grid(page).evaluate((table) => table.scrollWidth - table.clientWidth)).toBeLessThanOrEqual(1)
    for (const id of ['op', 'shape', 'backend', 'median', 'speedup']) await expect.poll(() => grid(page).locator(`[data-sort="${id}"]`).count()).toBe(1)
    await page.setViewportSize({ width: 1440, height: 900 })
    await expect.poll(() => page.evaluate(() => innerWidth)).toBe(1440)
    await expect.poll(cut).toEqual([])
  })

  it('keeps charts that have no room for a tab within reach', async () => {
    await page.setViewportSize({ width: 720, height: 700 })
    await page.getByTestId('chart-tabs-more').waitFor()
    await show('parallel')
    await expect.poll(() => page.getByTestId('chart-tabs-more').innerText()).toContain('Parallel axes')
    await expect.poll(() => coloursDrawn(page)).toBeGreaterThan(5)
    await page.setViewportSize({ width: 1440, height: 900 })
    // Beside open details there is room for all but one.
    await page.getByRole('button', { name: 'Close details (Esc)' }).click()
    await page.getByTestId('chart-tabs-more').waitFor({ state: 'detached' })
    await page.getByTestId('chart-tab-parallel').press('ArrowLeft')
    await expect.poll(() => page.getByTestId('chart-tab-scaling').getAttribute('aria-selected')).toBe('true')
  })
})

describe('a sweep over threads', () => {
  it('shows speedup and efficiency', async () => {
    await openSession('Threads', 4)
    await show('scaling')
    await expect.poll(() => coloursDrawn(page)).toBeGreaterThan(5)
    const file = join(cli.folder, 'scaling.csv')
    await opened.app.evaluate(({ dialog }, filePath) => {
      dialog.showSaveDialog = (() => Promise.resolve({ canceled: false, filePath })) as typeof dialog.showSaveDialog
    }, file)
    await page.getByRole('button', { name: 'Export chart as CSV' }).click()
    await expect.poll(() => { try { return readFileSync(file, 'utf8').trim().split('\n').length } catch { return 0 } }).toBe(5)
    expect(readFileSync(file, 'utf8')).toMatch(/^series,threads,gain/)
  })

  it('leaves no error on the console', () => expect(opened.pageErrors).toEqual([]))
})
