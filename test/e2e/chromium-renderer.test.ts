import { readFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname, join, resolve } from 'node:path'
import { chromium, type Browser, type Page } from 'playwright-core'
import { build } from 'vite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PAGE_HEADERS } from '../../main/app/page-files'
import { chromiumPath, NO_CHROMIUM } from './chromium-webgpu/chromium-path'
import { APP_FOLDER } from './launch'
import { coloursDrawn, dataRows, details, ended, grid, rowCount, sessions, showChart, tableRows, view } from './ui'

const executablePath = chromiumPath()
const TYPES: Readonly<Record<string, string>> = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.woff2': 'font/woff2', '.svg': 'image/svg+xml' }

/** The built pages under the headers that the app gives them. */
async function serve(): Promise<Server> {
  const server = createServer((request, response) => {
    const name = new URL(request.url ?? '/', 'http://localhost').pathname
    // Browsers ask for it unbidden.
    if (name === '/favicon.ico') return void response.writeHead(204).end()
    readFile(join(APP_FOLDER, 'out/renderer', name)).then(
      (content) => response.writeHead(200, { ...PAGE_HEADERS, 'Content-Type': TYPES[extname(name)] ?? 'application/octet-stream' }).end(content),
      () => response.writeHead(404).end(),
    )
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return server
}

/** `window.opscope` over invented data, as a script that runs before those of the page. */
async function inventedApi(): Promise<string> {
  const root = resolve(import.meta.dirname, '../..')
  const outputs = await build({
    root, configFile: false, logLevel: 'error', resolve: { alias: { '@core': join(root, 'core') } },
    build: { write: false, minify: false, lib: { entry: join(root, 'renderer/dev/mock-api.ts'), formats: ['iife'], name: 'invented' } },
  })
  if (!Array.isArray(outputs)) throw new Error('the invented API was not built')
  return `${outputs[0]!.output[0].code};invented.installMockApi({ pace: 20, rows: 20_000 })`
}

/** The engine of the newest Electron, which may be ahead of the Electron at hand. */
describe.skipIf(executablePath === undefined)(`the renderer in Chromium${executablePath ? '' : ` (skipped: ${NO_CHROMIUM})`}`, () => {
  let server: Server
  let browser: Browser
  let page: Page
  const errors: string[] = []

  beforeAll(async () => {
    server = await serve()
    browser = await chromium.launch({ executablePath: executablePath!, args: ['--no-sandbox'] })
    page = await browser.newPage({ viewport: { width: 1440, height: 900 } })
    page.on('pageerror', (error) => errors.push(String(error)))
    page.on('console', (message) => message.type() === 'error' && errors.push(message.text()))
    await page.addInitScript(await inventedApi())
    await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/index.html`)
  })
  afterAll(async () => {
    await browser.close()
    server.close()
  })

  it('runs a sweep: rows, progress and charts', async () => {
    await page.getByRole('button', { name: 'None', exact: true }).click()
    for (const family of ['activation', 'softmax']) await page.getByRole('button', { name: `Unfold the ${family} family` }).click()
    for (const op of ['gelu', 'softmax']) await page.getByRole('treeitem', { name: op, exact: true }).last().getByRole('checkbox').click()
    await page.getByText(/^[1-9][\d,]* cases$/).waitFor()
    await page.getByRole('button', { name: /^Run/ }).click()
    expect(await ended(page)).toMatch(/^Finished: \d+ results/)
    await expect.poll(() => rowCount(page)).toBeGreaterThan(5)
    await expect.poll(async () => (await tableRows(page)).length).toBeGreaterThan(5)
    for (const row of await tableRows(page)) expect(row['op']).not.toBe('')
    for (const tab of ['time', 'throughput', 'roofline']) {
      await showChart(page, tab)
      await expect.poll(() => coloursDrawn(page), { message: tab }).toBeGreaterThan(5)
    }
  })

  it('opens a session of 20,000 rows, of which it draws those in view', async () => {
    await view(page, 'History')
    await dataRows(sessions(page)).filter({ hasText: '20000 rows' }).dblclick()
    await page.getByText('20,000 rows', { exact: true }).waitFor()
    await expect.poll(() => dataRows(grid(page)).count()).toBeGreaterThan(5)
    expect(await grid(page).getByRole('row').count()).toBeLessThan(200)
    await grid(page).focus()
    await page.keyboard.press('End')
    await expect.poll(() => grid(page).locator('[data-row="19999"]').count()).toBe(1)
    await page.keyboard.press('Enter')
    await details(page).getByRole('heading', { name: 'Statistics' }).waitFor()
  })

  it('has every view', async () => {
    await view(page, 'Compare')
    await page.getByRole('heading', { name: 'Compare', exact: true }).waitFor()
    await view(page, 'Devices')
    await expect.poll(() => page.getByRole('article').count()).toBeGreaterThan(1)
    await view(page, 'Settings')
    await page.getByRole('radio', { name: 'Dark' }).click()
    await expect.poll(() => page.evaluate(() => document.documentElement.dataset['theme'])).toBe('dark')
    await view(page, 'Guide')
    await page.getByRole('heading').first().waitFor()
  })

  it('breaks no rule of its content policy and writes no error', () => {
    expect(errors).toEqual([])
  })
})
