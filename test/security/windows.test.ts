import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { launch, type Launched } from '../e2e/launch'

let opened: Launched
beforeAll(async () => {
  opened = await launch()
})
afterAll(() => opened.close())

/** Rule 1: windows are isolated and sandboxed. */
describe('windows', () => {
  it('every window is isolated, sandboxed and without Node', async () => {
    const preferences = await opened.app.evaluate(({ webContents }) =>
      webContents.getAllWebContents().map((contents) => {
        const p = (contents as unknown as { getLastWebPreferences(): Electron.WebPreferences }).getLastWebPreferences()
        return { contextIsolation: p.contextIsolation, sandbox: p.sandbox, webSecurity: p.webSecurity, nodeIntegration: p.nodeIntegration, inWorker: p.nodeIntegrationInWorker ?? false, webviewTag: p.webviewTag }
      }),
    )
    expect(preferences.length).toBeGreaterThan(0)
    for (const p of preferences) expect(p).toEqual({ contextIsolation: true, sandbox: true, webSecurity: true, nodeIntegration: false, inWorker: false, webviewTag: false })
  })

  it('the page has no require, process or Electron', async () => {
    const types = await opened.page.evaluate(() => ['require', 'process', 'module', 'global', 'Buffer', 'electron'].map((name) => typeof Reflect.get(window, name)))
    expect(types).toEqual(Array.from({ length: 6 }, () => 'undefined'))
  })

  it('exposes exactly the golden list, frozen', async () => {
    const exposed = await opened.page.evaluate(() => {
      const standard = new Set(Object.getOwnPropertyNames((document.body.appendChild(document.createElement('iframe')).contentWindow ?? window)))
      document.querySelector('iframe')?.remove()
      const api = window.opscope as unknown as Record<string, unknown>
      return { names: Object.keys(api).sort(), types: Object.values(api).map((value) => typeof value), frozen: Object.isFrozen(api), own: Object.getOwnPropertyNames(window).filter((name) => name === 'opscope' && !standard.has(name)) }
    })
    expect(exposed).toEqual({ names: ['invoke', 'on'], types: ['function', 'function'], frozen: true, own: ['opscope'] })
  })

  it('attaches no webview', async () => {
    await opened.page.evaluate(() => {
      const view = document.createElement('webview')
      view.setAttribute('src', 'app://opscope/index.html')
      document.body.append(view)
    })
    await opened.page.waitForTimeout(300)
    // All are not counted: the hidden one that looks for WebGPU devices comes and goes.
    expect(await opened.app.evaluate(({ webContents }) => webContents.getAllWebContents().filter((contents) => contents.getType() === 'webview').length)).toBe(0)
  })
})

/** Rule 3: nothing is permitted that the app does not use. */
describe('permissions', () => {
  it('refuses what the app does not use', async () => {
    const answers = await opened.page.evaluate(async () => {
      const names = ['geolocation', 'notifications', 'camera', 'microphone', 'midi', 'clipboard-read', 'persistent-storage']
      const states = await Promise.all(names.map((name) => navigator.permissions.query({ name: name as PermissionName }).then((status) => `${name}: ${status.state}`, () => `${name}: denied`)))
      const media = await navigator.mediaDevices.getUserMedia({ audio: true }).then(() => 'granted', () => 'refused')
      const display = await navigator.mediaDevices.getDisplayMedia({ video: true }).then(() => 'granted', () => 'refused')
      const read = await navigator.clipboard.readText().then(() => 'granted', () => 'refused')
      return { states, media, display, read }
    })
    expect(answers.states.filter((line) => !line.endsWith('denied'))).toEqual([])
    expect(answers).toMatchObject({ media: 'refused', display: 'refused', read: 'refused' })
  })

  it('lets the page copy text', async () => {
    expect(await opened.page.evaluate(() => navigator.permissions.query({ name: 'clipboard-write' as PermissionName }).then(({ state }) => state))).toBe('granted')
  })
})

/** Rule 4: the page stays where it is. */
describe('navigation', () => {
  // The hidden window that looks for WebGPU devices comes and goes.
  const state = async () => ({ url: opened.page.url(), windows: await opened.app.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows().filter(({ webContents }) => !webContents.getURL().includes('/webgpu/')).length) })
  /** How often main was asked, by the page of the app, to navigate or to download. */
  const asked = () => opened.app.evaluate(() => ({ ...(Reflect.get(globalThis, 'asked') as { navigate: number; download: number }) }))
  beforeAll(() =>
    opened.app.evaluate(({ webContents, session }) => {
      const counts = { navigate: 0, download: 0 }
      Object.assign(globalThis, { asked: counts })
      for (const contents of webContents.getAllWebContents()) contents.on('will-frame-navigate', () => void counts.navigate++)
      session.defaultSession.on('will-download', () => void counts.download++)
    }),
  )

  it.each<[string, 'navigate' | 'download' | undefined, () => void]>([
    ['a remote page', 'navigate', () => (location.href = 'https://example.com/')],
    ['a file', undefined, () => (location.href = 'file:///etc/passwd')],
    ['a data page', undefined, () => (location.href = 'data:text/html,<p>x')],
    ['another page of the app', 'navigate', () => (location.href = 'app://opscope/webgpu/index.html')],
    ['javascript', undefined, () => (location.href = 'javascript:document.body.innerHTML=1')],
    ['window.open', undefined, () => void window.open('https://example.com/')],
    ['window.open of our page', undefined, () => void window.open('app://opscope/index.html')],
    ['a link to a new window', undefined, () => Object.assign(document.createElement('a'), { href: 'https://example.com/', target: '_blank' }).click()],
    ['a download', 'download', () => Object.assign(document.createElement('a'), { href: 'data:text/plain,x', download: 'x.txt' }).click()],
    ['a frame', undefined, () => void document.body.append(Object.assign(document.createElement('iframe'), { src: 'https://example.com/', hidden: true }))],
  ])('is not changed by %s', async (_name, asks, act) => {
    const [before, earlier] = [await state(), await asked()]
    await opened.page.evaluate(act)
    // Main is asked first; where the page refuses by itself there is nothing to wait for.
    if (asks) await expect.poll(async () => (await asked())[asks]).toBeGreaterThan(earlier[asks])
    await opened.page.waitForTimeout(200)
    expect(await state()).toEqual(before)
    expect(await opened.page.evaluate(() => typeof window.opscope)).toBe('object')
  })

  it('is not changed by dropped HTML or a dropped file', async () => {
    const before = await state()
    await opened.page.evaluate(() => {
      const data = new DataTransfer()
      data.setData('text/html', '<script>document.title="dropped"</script>')
      data.setData('text/uri-list', 'https://example.com/')
      data.items.add(new File(['<p>x'], 'x.html', { type: 'text/html' }))
      for (const type of ['dragover', 'drop']) document.body.dispatchEvent(new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true }))
    })
    await opened.page.waitForTimeout(200)
    expect(await state()).toEqual(before)
  })

  it('opens known https links only', async () => {
    await opened.app.evaluate(({ shell }) => {
      const calls: string[] = []
      Object.assign(globalThis, { openedLinks: calls })
      shell.openExternal = (url: string) => Promise.resolve(void calls.push(url))
    })
    const replies = await opened.page.evaluate(async () => {
      const ask = (link: unknown) => window.opscope!.invoke('shell:open-link', { link } as never)
      return [await ask('licence'), await ask('file:///etc/passwd'), await ask('https://example.com/'), await ask('__proto__')].map((reply) => (reply.ok ? 'ok' : reply.error.code))
    })
    expect(replies).toEqual(['ok', 'bad-request', 'bad-request', 'bad-request'])
    const links = await opened.app.evaluate(() => Reflect.get(globalThis, 'openedLinks') as string[])
    expect(links).toHaveLength(1)
    expect(links[0]).toMatch(/^https:\/\//)
  })
})
