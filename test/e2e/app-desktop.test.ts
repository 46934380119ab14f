import { spawn, type ChildProcess } from 'node:child_process'
import { copyFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import type { OpscopeApi } from '@core/ipc'
import { sandboxSwitches } from '../../scripts/lib/display.mjs'
import { electronBinary } from '../../scripts/lib/electron.mjs'
import { APP_FOLDER, launch, type Launched } from './launch'
import { dataRows, dismissMessages, leavePicks, messages, rowCount, runToEnd, scripted, sessions, view } from './ui'

/** What makes it a program of the desktop: windows, links from outside, notifications, recent files. */
const dataDir = mkdtempSync(join(tmpdir(), 'opscope-desktop-'))
const file = join(dataDir, 'first.opscope.json')
let opened: Launched
let page: Page
beforeAll(async () => {
  leavePicks(dataDir, scripted(['steady'], '64, 128'))
  copyFileSync(resolve(import.meta.dirname, '../fixtures/formats/json/import/version-1.json'), file)
  opened = await launch({ dataDir, args: [file], env: { OPSCOPE_TEST_BACKEND: '1' } })
  page = opened.page
  await page.getByRole('main').getByRole('button', { name: 'First look' }).waitFor()
})
afterAll(async () => {
  for (const child of started) child.kill('SIGKILL')
  await opened.close()
  rmSync(dataDir, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 })
})

const address = (of: Page = page) => new URL(of.url()).hash
const windows = () => opened.app.windows().filter((one) => URL.canParse(one.url()) && new URL(one.url()).pathname === '/index.html')
const menu = (id: string) => opened.app.evaluate(({ Menu }, item) => Menu.getApplicationMenu()!.getMenuItemById(item)!.click(), id)
const firstSession = () =>
  page.evaluate(async () => {
    const reply = await (Reflect.get(window, 'opscope') as OpscopeApi).invoke('sessions:list', { search: '', deleted: false })
    return reply.ok ? reply.value[0]!.id : ''
  })

const started = new Set<ChildProcess>()

/** Starts the app once more with an argument, as the system does for a link; resolves to its exit status, once the app has taken up what was handed over. */
async function startWith(argument: string): Promise<unknown> {
  const electron = electronBinary()
  if ('reason' in electron) throw new Error(electron.reason)
  await opened.app.evaluate(({ app }) => {
    // Listeners are called in their order: this one after that of the app.
    Object.assign(globalThis, { handedOver: new Promise<void>((done) => void app.once('second-instance', () => setImmediate(done))) })
  })
  const child = spawn(electron.path, [...sandboxSwitches(), APP_FOLDER, argument], { env: { ...process.env, OPSCOPE_DATA_DIR: dataDir }, stdio: 'ignore' })
  started.add(child)
  const status = await new Promise((done) => child.on('exit', done))
  started.delete(child)
  await opened.app.evaluate(() => Reflect.get(globalThis, 'handedOver') as Promise<void>)
  return status
}

describe('links', () => {
  it('are copied, and open their view in the window there is', async () => {
    const id = await firstSession()
    await page.getByRole('button', { name: 'Copy link to this session' }).click()
    await messages(page).getByText(/Copied the link/).waitFor()
    const link = await opened.app.evaluate(({ clipboard }) => clipboard.readText())
    expect(link).toBe(`opscope://session/${id}`)
    await view(page, 'Devices')
    expect(await startWith(link)).toBe(0)
    await expect.poll(() => address()).toBe(`#/session/${id}`)
  })

  it.each(['opscope://session/00000000-0000-4000-8000-000000000000', 'opscope://compare/a/b'])('%s says that its session is not here, and changes no view', async (link) => {
    await view(page, 'Devices')
    await dismissMessages(page)
    await expect.poll(() => messages(page).getByText(/not in this history/).count()).toBe(0)
    await startWith(link)
    await messages(page).getByText(/not in this history/).last().waitFor()
    expect(address()).toBe('#/devices')
  })

  it.each(['opscope://settings', 'opscope://session/../../settings', 'opscope://session/a?run=1', 'opscope://run/start'])('%s does nothing but show the window', async (link) => {
    const before = await page.evaluate(async () => JSON.stringify(await (Reflect.get(window, 'opscope') as OpscopeApi).invoke('run:state', undefined)))
    await startWith(link)
    // What main has sent the page before, the page has by the time of this answer.
    expect(await page.evaluate(async () => JSON.stringify(await (Reflect.get(window, 'opscope') as OpscopeApi).invoke('run:state', undefined)))).toBe(before)
    expect(await page.evaluate(() => location.hash)).toBe('#/devices')
    expect(windows()).toHaveLength(1)
  })
})

describe('windows', () => {
  const second = async () => {
    await expect.poll(() => windows().length).toBe(2)
    const other = windows().find((one) => one !== page)!
    await other.waitForLoadState('load')
    return other
  }
  const closeIt = async (other: Page) => {
    await (await opened.app.browserWindow(other)).evaluate((window) => window.close())
    await expect.poll(() => windows().length).toBe(1)
  }

  it('a session opens in a window of its own from History, which shows the same settings', async () => {
    await view(page, 'History')
    await dataRows(sessions(page)).first().click({ button: 'right' })
    await page.getByRole('menuitem', { name: 'Open in new window' }).click()
    const other = await second()
    await other.getByRole('main').getByRole('button', { name: 'First look' }).waitFor()
    await expect.poll(() => rowCount(other)).toBeGreaterThan(0)
    expect(address()).toBe('#/history')
    await view(other, 'Settings')
    await other.getByRole('radio', { name: 'Dark' }).click()
    await expect.poll(() => page.evaluate(() => document.documentElement.dataset['theme'])).toBe('dark')
    await closeIt(other)
    expect(await page.title()).toContain('Opscope')
  })

  it('File, New window opens one, and the view of the first is what the next start brings', async () => {
    await menu('window.new')
    const other = await second()
    await view(other, 'Guide')
    await expect.poll(() => address(other)).toBe('#/guide')
    await view(page, 'Devices')
    await expect.poll(async () => {
      const reply = await page.evaluate(() => (Reflect.get(window, 'opscope') as OpscopeApi).invoke('settings:get', undefined))
      return reply.ok && reply.value.lastView
    }).toBe('/devices')
    await closeIt(other)
  })

  it('are not opened without end, nor at an address that is no view', async () => {
    const codes = await page.evaluate(async () => {
      const { invoke } = Reflect.get(window, 'opscope') as OpscopeApi
      const ask = async (request: unknown) => {
        const reply = await invoke('window:open', request as never)
        return reply.ok ? 'ok' : reply.error.code
      }
      return [await ask({ link: 'app://opscope/index.html' }), await ask({ link: { view: 'settings' } }), await ask({ link: { view: 'session', id: '../settings' } }), await ask({ link: { view: 'session', id: 'nobody' } })]
    })
    expect(codes).toEqual(['bad-request', 'bad-request', 'bad-request', 'not-found'])
    expect(windows()).toHaveLength(1)
  })
})

it('a run shows its progress on the taskbar and notifies of its end while the window is away', async () => {
  await opened.app.evaluate(({ BrowserWindow, Notification }) => {
    const told: string[] = []
    const shares: number[] = []
    Object.assign(globalThis, { told, shares })
    Notification.isSupported = () => true
    Notification.prototype.show = function () { told.push(`${this.title}: ${this.body}`) }
    BrowserWindow.prototype.isFocused = () => false
    BrowserWindow.prototype.setProgressBar = (share: number) => void shares.push(share)
  })
  await view(page, 'Run')
  expect(await runToEnd(page)).toBe('Finished: 2 results.')
  await expect.poll(() => opened.app.evaluate(() => Reflect.get(globalThis, 'told') as string[])).toEqual([expect.stringMatching(/^Run finished: add · f32 · fake: 2 results\.$/)])
  const shares = () => opened.app.evaluate(() => Reflect.get(globalThis, 'shares') as number[])
  await expect.poll(async () => (await shares()).at(-1)).toBe(-1)
  expect(Math.max(...(await shares()))).toBeGreaterThan(0)
})

it('a file that the system hands over as a URL is imported', async () => {
  const other = join(dataDir, 'by URL.opscope.json')
  copyFileSync(file, other)
  await view(page, 'Devices')
  expect(await startWith(pathToFileURL(other).href)).toBe(0)
  await page.getByRole('main').getByRole('button', { name: 'First look' }).waitFor()
  await messages(page).getByText(/was already in the history/).waitFor()
  await messages(page).getByRole('button', { name: 'Undo' }).last().click()
})

it('a file that was imported stands under Open recent, and opens the session it became', async () => {
  const recent = () => opened.app.evaluate(({ Menu }) => Menu.getApplicationMenu()!.getMenuItemById('recent-files')!.submenu!.items.map(({ label }) => label))
  await expect.poll(async () => (await recent()).slice(0, 2)).toEqual(['by URL.opscope.json', 'first.opscope.json'])
  await opened.app.evaluate(({ Menu }) => Menu.getApplicationMenu()!.getMenuItemById('recent-files')!.submenu!.items[1]!.click())
  await page.getByRole('main').getByRole('button', { name: 'First look' }).waitFor()
  await view(page, 'History')
  await expect.poll(() => dataRows(sessions(page)).count()).toBe(2)
  expect(opened.pageErrors).toEqual([])
})

it('rows are lower in the compact density', async () => {
  const height = () => dataRows(sessions(page)).first().evaluate((row) => row.getBoundingClientRect().height)
  await view(page, 'History')
  const before = await height()
  await view(page, 'Settings')
  await page.getByRole('radio', { name: 'Compact' }).click()
  await view(page, 'History')
  await expect.poll(height).toBeLessThan(before)
})

describe('a fault of the app', () => {
  const reports = () => (existsSync(join(dataDir, 'crashes')) ? readdirSync(join(dataDir, 'crashes')) : [])

  it('is written down on this machine and shown, and the window goes on', async () => {
    await opened.app.evaluate(({ shell }) => {
      const revealed: string[] = []
      Object.assign(globalThis, { revealed })
      shell.showItemInFolder = (path: string) => void revealed.push(path)
      process.emit('uncaughtException', new Error('something of ours broke'))
    })
    const dialog = page.getByRole('dialog', { name: 'Opscope had an internal error' })
    await dialog.getByText(/An error in the main process/).waitFor()
    await expect.poll(reports).toHaveLength(1)
    const folder = join(dataDir, 'crashes', reports()[0]!)
    await expect.poll(() => readFileSync(join(folder, 'fault.txt'), 'utf8')).toContain('something of ours broke')
    await dialog.getByRole('button', { name: 'Show in folder' }).click()
    await expect.poll(() => opened.app.evaluate(() => Reflect.get(globalThis, 'revealed') as string[])).toEqual([folder])
    await expect.poll(() => dialog.count()).toBe(0)
    await view(page, 'Devices')
    await expect.poll(() => address()).toBe('#/devices')
  })
})

it('Help, Licences lists the packages in the app, with their texts', async () => {
  await menu('help.licences')
  const list = page.getByRole('list', { name: 'Packages' })
  await list.getByText('pinia', { exact: true }).click()
  await list.getByRole('listitem').filter({ has: page.getByText('pinia', { exact: true }) }).getByText(/Permission is hereby granted/).waitFor()
  for (const name of ['echarts', 'zod', 'kysely', 'electron', '@photostructure/sqlite']) await expect.poll(() => list.getByText(name, { exact: true }).count(), { message: name }).toBe(1)
  expect(opened.pageErrors).toEqual([])
})
