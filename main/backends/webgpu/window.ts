import { app, BrowserWindow, type IpcMainEvent, type IpcMainInvokeEvent } from 'electron'
import { safeWebPreferences } from '../../app/harden'
import { preloadFile } from '../../app/out-folder'
import { isPage, pageUrl } from '../../app/page-url'
import type { HostProcess } from '../../measurement/link'
import { watchFor } from './watch'

/** As in preload/webgpu.ts. */
const CHANNEL = 'webgpu-host'
const PAGE = 'webgpu/index.html'

/** OPSCOPE_RED_TEAM=1 asks for kernels that cheat; the page has no environment and is told by its address. */
const pageQuery = (): string => (process.env['OPSCOPE_RED_TEAM'] === '1' ? '?red-team' : '')

const GONE: Readonly<Record<string, string>> = {
  crashed: 'crashed',
  oom: 'ran out of memory',
  killed: 'was ended from outside',
  'abnormal-exit': 'ended with an error',
  'launch-failed': 'could not be started',
}

/** Opens the hidden window that measures WebGPU. Its page says `ready` when it can be asked. */
export async function openHostWindow(): Promise<HostProcess> {
  await app.whenReady()
  const window = new BrowserWindow({
    show: false,
    width: 320,
    height: 200,
    skipTaskbar: true,
    title: 'Opscope WebGPU measurement',
    // Timers and frames of hidden pages are slowed down otherwise.
    webPreferences: { ...safeWebPreferences(preloadFile('webgpu.cjs')), backgroundThrottling: false },
  })
  const contents = window.webContents
  const isOurs = (event: IpcMainEvent | IpcMainInvokeEvent): boolean => event.senderFrame === contents.mainFrame && isPage(contents.getURL(), PAGE)
  const watch = watchFor(contents, isOurs)
  let left: string | undefined
  let leave: (reason: string) => void = () => undefined
  const end = (reason: string) => {
    if (left !== undefined) return
    left = reason
    watch.close()
    leave(reason)
    if (!window.isDestroyed()) window.destroy()
  }
  contents.on('render-process-gone', (_event, details) => end(`${GONE[details.reason] ?? `ended (${details.reason})`}: the page that measures WebGPU is gone`))
  contents.on('unresponsive', () => end('did not answer any more: the page that measures WebGPU hangs'))
  contents.on('did-fail-load', (_event, _code, description) => end(`could not load its page: ${description}`))
  window.on('closed', () => end('was closed'))

  void contents.loadURL(pageUrl(PAGE) + pageQuery()).catch(() => undefined)
  return {
    post: (message) => {
      if (!window.isDestroyed()) contents.send(CHANNEL, message)
    },
    kill: () => {
      if (!window.isDestroyed()) {
        // A page that computes would answer a polite request only afterwards.
        contents.forcefullyCrashRenderer()
        window.destroy()
      }
    },
    onMessage: (listener) =>
      void contents.ipc.on(CHANNEL, (event, message: unknown) => {
        if (isOurs(event)) listener(message)
      }),
    onStderr: () => undefined,
    onExit: (listener) => {
      leave = listener
      if (left !== undefined) listener(left)
    },
  }
}
