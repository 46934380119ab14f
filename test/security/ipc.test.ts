import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { REQUESTS, type Channel } from '@core/ipc'
import { APP_FOLDER, launch, type Launched } from '../e2e/launch'

let opened: Launched
beforeAll(async () => {
  opened = await launch()
})
afterAll(() => opened.close())

/** Payloads that no request takes, as JSON, so that they cross to the page unchanged. */
const MALFORMED: unknown[] = [
  null, 0, -1, 1e308, '', 'x', 'x'.repeat(100_000), true, [], [[]], [null], {},
  { id: 1 }, { id: '' }, { id: 'x'.repeat(65) }, { id: ['a'] }, { id: { $gt: '' } }, { ids: [] }, { ids: ['', null] }, { ids: 'all' },
  { id: 'a', first: -1, count: 1 }, { id: 'a', first: 0, count: 1e9 }, { id: 'a', first: 0.5, count: 1 },
  { search: 5, deleted: false }, { search: 'x'.repeat(201), deleted: false }, { spec: null }, { spec: { ops: 'all' } },
  { spec: { ops: [{ op: 1 }], sizes: {}, dtypes: ['f128'], targets: [{}], modes: ['tepid'], preset: 'eternal' } },
  { theme: 'plaid' }, { columns: { results: [{ id: 'x', width: -5 }] } }, { sessionIds: ['one'] }, { refresh: 'yes' }, { devices: [1, 2] },
  { name: '', kind: 'png', data: '' }, { name: '../../x', kind: 'exe', data: 'MZ' }, { link: 'https://example.com/' }, { id: 'a', format: 'exe' },
]

/** Rule 5: one checked contract. */
describe('requests', () => {
  it('answer malformed payloads with a typed error, and change nothing', async () => {
    const cases = (Object.keys(REQUESTS) as Channel[]).flatMap((channel) => MALFORMED.filter((payload) => !REQUESTS[channel].request.safeParse(payload).success).map((payload) => [channel, payload] as const))
    expect(new Set(cases.map(([channel]) => channel)).size).toBe(Object.keys(REQUESTS).length)
    const snapshot = () =>
      opened.page.evaluate(async () => {
        const settings = await window.opscope!.invoke('settings:get', undefined)
        // The page notes the view it shows by itself, a moment after it has loaded.
        return JSON.stringify([await window.opscope!.invoke('sessions:list', { search: '', deleted: false }), await window.opscope!.invoke('run:state', undefined), settings.ok && { ...settings.value, lastView: undefined }])
      })
    const before = await snapshot()
    const replies = await opened.page.evaluate((all) => Promise.all(all.map(([channel, payload]) => window.opscope!.invoke(channel, payload as never))), cases)
    replies.forEach((reply, i) => {
      expect(reply, `${cases[i]?.[0]} ${JSON.stringify(cases[i]?.[1]).slice(0, 80)}`).toMatchObject({ ok: false, error: { code: 'bad-request' } })
    })
    expect(await snapshot()).toBe(before)
  })

  it('name unknown ids as not found', async () => {
    const replies = await opened.page.evaluate(() => Promise.all([window.opscope!.invoke('sessions:get', { id: 'nobody' }), window.opscope!.invoke('sessions:rows', { id: 'nobody', first: 0, count: 1 }), window.opscope!.invoke('sessions:update', { id: 'nobody', name: 'x' }), window.opscope!.invoke('run:resume-session', { sessionId: 'nobody' }), window.opscope!.invoke('sessions:export', { id: 'nobody', format: 'json' })]))
    for (const reply of replies) expect(reply).toMatchObject({ ok: false, error: { code: 'not-found' } })
  })

  it('take only channels of the contract', async () => {
    const reply = await opened.page.evaluate(() => window.opscope!.invoke('ELECTRON_BROWSER_REQUIRE' as never, undefined as never))
    expect(reply).toMatchObject({ ok: false, error: { code: 'refused' } })
    const listen = await opened.page.evaluate(() => {
      try {
        window.opscope!.on('ipc-message' as never, () => undefined)
        return 'listening'
      } catch (error) {
        return (error as Error).message
      }
    })
    expect(listen).toContain('no such event')
  })

  it('never send a stack or a path of the program', async () => {
    const text = await opened.page.evaluate(async () => JSON.stringify(await Promise.all([window.opscope!.invoke('sessions:get', { id: 'nobody' }), window.opscope!.invoke('run:start', { spec: {} } as never)])))
    expect(text).not.toMatch(/\bat .*:\d+:\d+|out\/main|node_modules/)
  })

  it('refuse every sender but the window of the app', async () => {
    // The same preload in another window, which shows the same page: right page, wrong window.
    const codes = await opened.app.evaluate(async ({ BrowserWindow }, preload) => {
      const other = new BrowserWindow({ show: false, webPreferences: { preload, sandbox: true, contextIsolation: true } })
      await other.loadURL('app://opscope/index.html')
      const replies = (await other.webContents.executeJavaScript(`Promise.all([window.opscope.invoke('settings:set', { theme: 'dark' }), window.opscope.invoke('sessions:delete', { ids: ['a'] })])`)) as { ok: boolean; error?: { code: string } }[]
      other.destroy()
      return replies.map((reply) => reply.error?.code ?? 'answered')
    }, join(APP_FOLDER, 'out/preload/index.cjs'))
    expect(codes).toEqual(['refused', 'refused'])
  })
})

describe('events', () => {
  it('bring the payload and never the event object', async () => {
    const received = await opened.page.evaluateHandle(() => {
      const all: unknown[][] = []
      window.opscope!.on('menu:command', (...args: unknown[]) => all.push(args))
      return all
    })
    await opened.app.evaluate(({ Menu }) => Menu.getApplicationMenu()?.getMenuItemById('view.history')?.click())
    await expect.poll(() => received.jsonValue()).toEqual([[{ command: 'view.history' }]])
  })
})

describe('programs', () => {
  it('run only where main found them or the user agreed in a dialog of main, whatever a page sends', async () => {
    const ran = join(opened.dataDir, 'ran')
    const program = join(opened.dataDir, 'program')
    writeFileSync(program, `#!/bin/sh\ntouch ${ran}\necho Python 3.12.1\n`, { mode: 0o755 })
    await opened.app.evaluate(({ dialog }) => {
      const questions: string[] = []
      Object.assign(globalThis, { questions })
      dialog.showMessageBox = ((...args: unknown[]) => {
        questions.push((args.at(-1) as Electron.MessageBoxOptions).detail ?? '')
        return Promise.resolve({ response: 0, checkboxChecked: false })
      }) as typeof dialog.showMessageBox
    })
    const codes = await opened.page.evaluate(async (path) => {
      const invoke = window.opscope!.invoke
      const settings = await Promise.all([{ extra: [path] }, { extra: [], chosen: [path] }, { extra: [], chosen: ['/bin/sh'] }, { extra: ['\\\\server\\share\\python.exe'] }].map((python) => invoke('settings:set', { python })))
      const added = [await invoke('python:add', { typed: path }), await invoke('python:add', { typed: '//server/share/python' })]
      await invoke('devices:list', { refresh: true })
      return [...settings, ...added].map((reply) => (reply.ok ? JSON.stringify(reply.value) : reply.error.code))
    }, program)
    expect(codes).toEqual(['refused', 'refused', 'refused', 'refused', '{"done":false}', 'bad-request'])
    expect(await opened.app.evaluate(() => Reflect.get(globalThis, 'questions') as string[])).toEqual([expect.stringContaining(program)])
    expect(existsSync(ran)).toBe(false)
  })
})

/** Rule 6: the page names no path. */
describe('paths', () => {
  it('no request takes or returns one', () => {
    const contract = readFileSync(join(import.meta.dirname, '../../core/ipc/index.ts'), 'utf8').replace(/\/\*[\s\S]*?\*\//g, '')
    const fields = [...contract.matchAll(/\b(\w*(?:path|file|folder|directory)\w*)\s*:/gi)].map((match) => match[1])
    expect(fields).toEqual([])
  })

  it('a name with folders in it is only a suggestion inside the dialog', async () => {
    await opened.app.evaluate(({ dialog }) => {
      const asked: (string | undefined)[] = []
      Object.assign(globalThis, { asked })
      dialog.showSaveDialog = ((...args: unknown[]) => {
        asked.push((args.at(-1) as Electron.SaveDialogOptions).defaultPath)
        return Promise.resolve({ canceled: true, filePath: '' })
      }) as typeof dialog.showSaveDialog
    })
    const reply = await opened.page.evaluate(() => window.opscope!.invoke('chart:save', { name: '../../../etc/cron.d/x', kind: 'csv', data: 'a,b' }))
    expect(reply).toEqual({ ok: true, value: { done: false } })
    const asked = await opened.app.evaluate(() => Reflect.get(globalThis, 'asked') as string[])
    expect(asked[0]).toMatch(/\.csv$/)
    expect(asked[0]).not.toMatch(/[/\\]/)
  })
})
