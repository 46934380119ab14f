import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { sandboxSwitches } from '../../scripts/lib/display.mjs'
import { electronBinary } from '../../scripts/lib/electron.mjs'
import { APP_FOLDER, launch, type Launched } from './launch'

let dataDir: string
let opened: Launched | undefined
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'opscope-window-'))
})
afterEach(async () => {
  await opened?.close().catch(() => undefined)
  opened = undefined
  rmSync(dataDir, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 })
})

const start = async () => (opened = await launch({ dataDir }))
/** Electron's object of the visible window; hidden ones may measure beside it. */
const windowOf = ({ app, page }: Launched) => app.browserWindow(page)
const bounds = async (launched: Launched) => (await windowOf(launched)).evaluate((window) => window.getNormalBounds())

describe('the window', () => {
  it('comes back where it was', async () => {
    const first = await start()
    await (await windowOf(first)).evaluate((window) => window.setBounds({ x: 60, y: 40, width: 1011, height: 702 }))
    await expect.poll(() => bounds(first)).toMatchObject({ width: 1011, height: 702 })
    const before = await bounds(first)
    await first.close()
    const second = await start()
    await expect.poll(() => bounds(second)).toEqual(before)
  })

  it('opens in spite of a damaged note of its place and damaged settings', async () => {
    writeFileSync(join(dataDir, 'window.json'), '{"bounds":')
    writeFileSync(join(dataDir, 'settings.json'), '{"theme":"plaid","lastView":"/history"}')
    const { page } = await start()
    const [settings, info] = await page.evaluate(async () => [await window.opscope!.invoke('settings:get', undefined), await window.opscope!.invoke('app:info', undefined)] as const)
    expect(settings).toMatchObject({ ok: true, value: { theme: 'system', lastView: '/history' } })
    expect(info.ok && info.value.notice).toContain('theme')
  })

  it('brings settings back after the app was killed', async () => {
    const first = await start()
    await first.page.evaluate(() => window.opscope!.invoke('settings:set', { theme: 'dark' }))
    await expect.poll(() => first.app.evaluate(({ nativeTheme }) => nativeTheme.themeSource)).toBe('dark')
    await first.kill()
    const second = await start()
    await expect.poll(() => second.app.evaluate(({ nativeTheme }) => nativeTheme.themeSource)).toBe('dark')
    await expect.poll(() => second.page.evaluate(() => matchMedia('(prefers-color-scheme: dark)').matches)).toBe(true)
  })

  it('is shown by a second start with the same data, which then ends', async () => {
    const first = await start()
    // A display without a window manager minimizes nothing: the window is hidden, and says that it is minimized until it is restored.
    await (await windowOf(first)).evaluate((window) => {
      let minimized = true
      window.isMinimized = () => minimized
      window.restore = () => void (minimized = false)
      window.hide()
    })
    const seen = async () => (await windowOf(first)).evaluate((window) => [window.isVisible(), window.isMinimized()])
    await expect.poll(seen).toEqual([false, true])
    const electron = electronBinary()
    if ('reason' in electron) throw new Error(electron.reason)
    const again = spawn(electron.path, [...sandboxSwitches(), APP_FOLDER], { env: { ...process.env, OPSCOPE_DATA_DIR: dataDir }, stdio: 'ignore' })
    onTestFinished(() => void again.kill('SIGKILL'))
    expect(await new Promise((done) => again.on('exit', done))).toBe(0)
    await expect.poll(seen).toEqual([true, false])
  })

  it('comes back when its page crashes', async () => {
    const launched = await start()
    await launched.page.evaluate(() => void Object.assign(window, { before: true }))
    const state = await (await windowOf(launched)).evaluate(async ({ webContents: contents }) => {
      const loaded = new Promise((resolve) => contents.once('did-finish-load', resolve))
      contents.forcefullyCrashRenderer()
      await loaded
      return (await contents.executeJavaScript('`${typeof window.opscope} ${typeof window.before}`')) as string
    })
    expect(state).toBe('object undefined')
  })

  it('ends the app when it is closed', async () => {
    const launched = await start()
    const gone = new Promise((done) => launched.app.process().once('exit', done))
    await (await windowOf(launched)).evaluate((window) => window.close())
    expect(await gone).toBe(0)
    opened = undefined
  })
})
