import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { launch, type Launched } from './launch'
import { PRESETS } from '@core/measure/settings'
import { violations } from './axe'
import { coloursDrawn, details, dismissMessages, endOf, messages, pressOnceShown, rowCount, sessions, tableRows, view } from './ui'

const folder = mkdtempSync(join(tmpdir(), 'opscope-suites-'))
const fixture = (path: string) => resolve(import.meta.dirname, '../fixtures/formats', path)
let opened: Launched
let page: Page

async function drop(path: string): Promise<void> {
  await page.evaluate(({ name, text }) => {
    const transfer = new DataTransfer()
    transfer.items.add(new File([text], name))
    for (const type of ['dragenter', 'dragover', 'drop']) document.body.dispatchEvent(new DragEvent(type, { bubbles: true, cancelable: true, dataTransfer: transfer }))
  }, { name: basename(path), text: readFileSync(path, 'utf8') })
}

beforeAll(async () => {
  mkdirSync(join(folder, 'data'))
  // What is looked at here is the suite, not its figures: a few samples of each case.
  writeFileSync(join(folder, 'data', 'settings.json'), JSON.stringify({ presets: { quick: { ...PRESETS.quick, maxWarmupSeconds: 0.005, rule: { id: 'fixed-count', count: 5 } } } }))
  // Without Python, a suite names what is not available here, and few cases.
  opened = await launch({ dataDir: join(folder, 'data') })
  page = opened.page
})
afterAll(async () => {
  await opened.close()
  rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 })
})

describe('results of the suites people come from', () => {
  it.each([
    ['pytest-benchmark/import/with-data.json', 2, /test_add.*pytest-benchmark/],
    ['criterion/import/bytes.csv', 1, /sum.*criterion fold/],
    ['cargo-criterion/import/from-schema.jsonl', 4, /add.*criterion AVX2/],
    ['comprehensive/import/from-schema-list.json', 12, /LayerNorm.*comprehensive Triton/],
    ['trueno/import/from-schema.json', 18, /add.*trueno numpy/],
  ])('a dropped %s is a session of its own', async (path, results, row) => {
    await drop(fixture(path))
    await messages(page).getByText(`Imported “${basename(path).replace(/\.[^.]+$/, '')}”.`).waitFor()
    await expect.poll(() => rowCount(page)).toBe(results)
    await expect.poll(async () => (await tableRows(page)).map((cells) => Object.values(cells).join(' ')).join('\n')).toMatch(row)
    await dismissMessages(page)
  })

  it('rates NumPy against PyTorch and the other way round, and says why a row has no rating', async () => {
    await page.getByRole('main').getByRole('button', { name: 'Columns' }).click()
    for (const title of ['Genesis rating', 'Trueno rule']) await page.getByRole('checkbox', { name: title }).check()
    await page.keyboard.press('Escape')
    const of = async (impl: string, column: string) => new Set((await tableRows(page)).filter((cells) => Object.values(cells).some((text) => text === `trueno ${impl}`)).map((cells) => cells[column]))
    await expect.poll(() => of('numpy', 'rating-genesis')).toEqual(new Set(['excellent']))
    await expect.poll(() => of('pytorch', 'rating-trueno')).toEqual(new Set(['slower', 'within 20 %']))
    const rows = await tableRows(page)
    // Nothing of another tool was compared with a reference, and its parameters are its own.
    expect(new Set(rows.flatMap((cells) => cells['verified'] ?? []))).toEqual(new Set(['–']))
    expect(rows.filter((cells) => cells['op'] === 'sum').map((cells) => cells['shape'])).toContain('n=100')
    expect(await page.getByTitle('This is NumPy, which others are rated against.').first().innerText()).toBe('–')
  })

  it('shows a figure that only the file states', async () => {
    await drop(fixture('comprehensive/import/from-schema-object.json'))
    await expect.poll(() => rowCount(page)).toBe(3)
    await page.locator('[role=row][data-row="0"]').dblclick()
    await page.getByText('gpu_efficiency, as stated').waitFor()
    await page.getByText(/the mean is shown as the median/).first().waitFor()
  })
})

describe('a suite in the window', () => {
  const offer = () => page.getByRole('listitem', { name: 'Comprehensive CUDA/Triton benchmark' })
  const report = () => page.getByRole('region', { name: 'Report of Comprehensive CUDA/Triton benchmark' })

  it('is found in the commands, and says what it comes to here and what is missing', async () => {
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'Command' }).fill('Suites')
    await expect.poll(() => page.getByRole('option').first().innerText()).toMatch(/^Suites/)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Suites', level: 1 }).waitFor()
    await expect.poll(() => page.getByRole('region', { name: 'Suites' }).getByRole('heading', { level: 2 }).allInnerTexts()).toEqual(['Comprehensive CUDA/Triton benchmark', 'Genesis benchmarks', 'Genesis performance guide', 'TenfloweRS tools', 'Transformer block by parts', 'Trueno SIMD suite'])
    await expect.poll(() => offer().getByText(/\d+ cases, (about|under) /).count()).toBe(2)
    await offer().getByText(/^Not available on this machine/).click()
    await offer().getByText(/^PyTorch: no Python with it is available/).waitFor()
    expect(await violations(page)).toEqual([])
  })

  it('is stopped from its entry, and keeps what it has', async () => {
    const stopped = pressOnceShown(page, 'li[aria-label="Comprehensive CUDA/Triton benchmark"]:has([role=progressbar])', /(?<!\d)[1-9]\d* of \d+ cases/, 'Stop')
    await offer().getByRole('button', { name: 'Run Comprehensive' }).click()
    await stopped
    await report().waitFor()
    await page.getByText(/stopped early, \d+ of \d+ cases/).waitFor()
    await page.getByRole('button', { name: 'All suites' }).click()
    await offer().getByRole('link', { name: /^Today/ }).waitFor()
  })

  it('runs with one click and opens its report', async () => {
    expect(await endOf(page, () => offer().getByRole('button', { name: 'Run Comprehensive' }).click())).toMatch(/^Finished:/)
    await report().getByText(/^10 of 10 results passed verification/).waitFor()
    for (const title of ['Summary', 'Times', 'Red flags']) await report().getByRole('heading', { name: title }).waitFor()
    await expect.poll(() => report().getByRole('region', { name: 'Times' }).getByRole('row').count()).toBe(11)
    expect(await violations(page)).toEqual([])
  }, 90_000)

  it('is narrowed by dimension and by words', async () => {
    const rows = () => report().getByRole('region', { name: 'Times' }).locator('tbody tr').count()
    await page.getByRole('combobox', { name: 'Dimension' }).selectOption('64')
    await expect.poll(rows).toBe(5)
    await page.getByRole('searchbox', { name: 'Filter rows of the tables' }).fill('gelu')
    await expect.poll(rows).toBe(1)
  })

  it('leads from a cell to its result, and from the session back to the report', async () => {
    await report().getByRole('region', { name: 'Times' }).getByRole('link').first().click()
    await details(page).getByRole('heading', { name: /^gelu / }).waitFor()
    await expect.poll(() => rowCount(page)).toBe(10)
    await view(page, 'History')
    await sessions(page).getByText('Comprehensive CUDA/Triton benchmark (quick)').first().dblclick()
    await page.getByRole('button', { name: 'Suite report' }).click()
    await report().waitFor()
  })

  it('is saved as Markdown, JSON and in the format of the suite', async () => {
    for (const [button, file, found] of [['Markdown', 'a.md', /^# Comprehensive CUDA\/Triton benchmark[^]*## Times/], ['JSON', 'a.json', /"columns": \[/], ['Suite format', 'b.json', /"gpu_efficiency"/]] as const) {
      const path = join(folder, file)
      await opened.app.evaluate(({ dialog }, to) => void (dialog.showSaveDialog = (() => Promise.resolve({ canceled: false, filePath: to })) as typeof dialog.showSaveDialog), path)
      await page.getByRole('button', { name: button, exact: true }).click()
      // What would identify the machine is shown before a report is written.
      if (button !== 'Suite format') await page.getByRole('dialog').getByRole('button', { name: 'Choose where to write…' }).click()
      await expect.poll(() => { try { return readFileSync(path, 'utf8') } catch { return '' } }).toMatch(found)
    }
  })

  it('is saved as a whole into a folder, with its picture', async () => {
    const reports = mkdtempSync(join(folder, 'reports-'))
    await opened.app.evaluate(({ dialog }, to) => void (dialog.showOpenDialog = (() => Promise.resolve({ canceled: false, filePaths: [to] })) as typeof dialog.showOpenDialog), reports)
    await page.getByRole('button', { name: 'All to a folder…' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Choose where to write…' }).click()
    await messages(page).getByText(/^Wrote 6 files to reports-/).waitFor({ timeout: 60_000 })
    expect(readdirSync(reports).sort()).toEqual(['comprehensive.html', 'comprehensive.json', 'comprehensive.md', 'comprehensive.opscope.json', 'comprehensive.results.json', 'comprehensive.svg'])
    expect(readFileSync(join(reports, 'comprehensive.svg'), 'utf8')).toMatch(/^<svg [^]*Median time of a call[^]*layer_norm[^]*<circle/)
  })

  it('is narrowed, run again, and says what it comes to against the run before', async () => {
    await page.evaluate(() => void (location.hash = '#/suites'))
    await offer().getByText('Choose what to measure', { exact: true }).click()
    await offer().getByRole('group', { name: /^Dimension/ }).getByRole('button', { name: '512' }).click()
    await offer().getByText(/^5 cases/).waitFor()
    await offer().getByRole('button', { name: 'Run Comprehensive' }).click()
    await report().getByText(/^5 of 5 results passed verification/).waitFor({ timeout: 60_000 })
    await report().getByRole('region', { name: 'Previous run' }).getByText(/the previous run \(5 compared\)/).waitFor({ timeout: 60_000 })
    await expect.poll(() => page.getByRole('combobox', { name: 'Dimension' }).locator('option').allInnerTexts()).toEqual(['all', '64'])
    expect(await violations(page)).toEqual([])
    await report().getByRole('link', { name: 'Compare' }).click()
    await page.getByRole('heading', { name: 'Compare', level: 1 }).waitFor()
  }, 90_000)
})

describe('the other suites', () => {
  it.each([
    ['Genesis benchmarks', 'Times'],
    ['Genesis performance guide', 'Bandwidth by size class'],
    ['TenfloweRS tools', 'Bottlenecks'],
    ['Trueno SIMD suite', 'Crossovers'],
  ])('%s runs here in its quick form and ends with its own tables', async (title, table) => {
    await page.evaluate(() => void (location.hash = '#/suites'))
    await page.getByRole('listitem', { name: title }).getByRole('button', { name: `Run ${title}` }).click()
    const report = page.getByRole('region', { name: `Report of ${title}` })
    await report.waitFor({ timeout: 90_000 })
    expect(await report.getByText(/^\d+ of \d+ results passed verification/).innerText()).toMatch(/^(\d+) of \1 results/)
    await report.getByRole('heading', { name: table, exact: true }).waitFor()
    await expect.poll(() => report.getByRole('link').count()).toBeGreaterThan(5)
  }, 120_000)
})

describe('a transformer block by parts', () => {
  const offer = () => page.getByRole('listitem', { name: 'Transformer block by parts' })

  it('takes a size of the user, refuses one that is none, and shows where its time goes', async () => {
    await page.evaluate(() => void (location.hash = '#/suites'))
    const size = offer().getByRole('textbox', { name: /^Custom size/ })
    await size.fill('1x32x64x5')
    await offer().getByText('heads (5) must divide dim (64)').waitFor()
    await expect.poll(() => offer().getByRole('button', { name: 'Run Transformer' }).isDisabled()).toBe(true)
    await size.fill('1x32x64x4')
    await offer().getByRole('button', { name: 'Run Transformer' }).click()
    await page.getByRole('heading', { name: 'Timeline' }).waitFor({ timeout: 60_000 })
    await expect.poll(() => coloursDrawn(page)).toBeGreaterThan(5)
    await page.getByRole('region', { name: /^Parts of transformer_block 1x32x64x4/ }).getByRole('row', { name: /^norm1 forward layer_norm 32x64/ }).waitFor()
    expect(await violations(page)).toEqual([])
  }, 90_000)

  it('is saved as a trace whose parts follow one another', async () => {
    const path = join(folder, 'block.trace.json')
    await opened.app.evaluate(({ dialog }, to) => void (dialog.showSaveDialog = (() => Promise.resolve({ canceled: false, filePath: to })) as typeof dialog.showSaveDialog), path)
    await page.getByRole('button', { name: 'Chrome trace' }).click()
    await expect.poll(() => JSON.parse(readFileSync(path, 'utf8')) as unknown).toHaveProperty('traceEvents')
    const { traceEvents } = JSON.parse(readFileSync(path, 'utf8')) as { traceEvents: { ph: string; pid: number; name: string; cat?: string; ts: number; dur: number }[] }
    const parts = traceEvents.filter(({ ph, pid }) => ph === 'X' && pid === 1)
    expect(parts.map(({ name }) => name).slice(0, 3)).toEqual(['norm1', 'qkv', 'qkv_bias'])
    for (const [i, { ts }] of parts.entries()) expect(ts).toBeCloseTo(parts.slice(0, i).reduce((sum, { dur }) => sum + dur, 0), 6)
    expect(new Set(parts.map(({ cat }) => cat))).toEqual(new Set(['forward', 'backward']))
  })
})

describe('a saved sweep of a model', () => {
  it('is opened by dropping it, with what is outside the catalogue', async () => {
    await drop(resolve(import.meta.dirname, '../bench/results/suites/resnet50.sweep.json'))
    await page.getByRole('heading', { name: 'Shapes from a script' }).waitFor()
    await page.getByRole('region', { name: 'In the catalogue' }).getByRole('row', { name: /^conv2d\b.* c=3 .*f32 1$/ }).waitFor()
    await page.getByRole('region', { name: 'Outside the catalogue' }).getByRole('row', { name: /^aten\.convolution_backward\.default no such operation 53/ }).waitFor()
    await expect.poll(() => page.getByRole('button', { name: /^Run \d+ captured cases$/ }).isEnabled()).toBe(true)
    expect(await violations(page)).toEqual([])
  })
})

describe('afterwards', () => {
  it('leaves no error on the console', () => {
    expect(opened.pageErrors).toEqual([])
  })
})
