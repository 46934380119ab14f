import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { launch, type Launched } from './launch'
import { dismissMessages, messages, rowCount, tableRows } from './ui'

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
    expect((await tableRows(page)).map((cells) => Object.values(cells).join(' ')).join('\n')).toMatch(row)
    await dismissMessages(page)
  })

  it('rates NumPy against PyTorch and the other way round, and says why a row has no rating', async () => {
    await page.getByRole('main').getByRole('button', { name: 'Columns' }).click()
    for (const title of ['Genesis rating', 'Trueno rule']) await page.getByRole('checkbox', { name: title }).check()
    await page.keyboard.press('Escape')
    const rows = await tableRows(page)
    const of = (impl: string) => rows.filter((cells) => Object.values(cells).some((text) => text === `trueno ${impl}`))
    expect(new Set(of('numpy').map((cells) => cells['rating-genesis']))).toEqual(new Set(['excellent']))
    expect(new Set(of('pytorch').map((cells) => cells['rating-trueno']))).toEqual(new Set(['slower', 'within 20 %']))
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

  it('leaves no error on the console', () => {
    expect(opened.pageErrors).toEqual([])
  })
})
