import { join } from 'node:path'
import { app, BrowserWindow, session, type Session, type IpcMainEvent, type IpcMainInvokeEvent } from 'electron'
import { backendsOf } from '@core/backends'
import { safeWebPreferences } from '../../app/harden'
import { preloadFile } from '../../app/page-files'
import { isPage, pageUrl, serveMeasuringPages } from '../../app/pages'
import { exclusiveLinks } from '../../exclusive'
import { dataFolder } from '../../paths'
import { connect, type HostProcess } from '../../measurement/link'
import type { HostKind } from '../../runner/types'
import { cacheSweeps } from './cache-sweeps'
import { isLibraryUrl, librariesFolder, serveLibraryFile } from './libraries'
import { pageQuery } from './page-query'
import { watchFor } from './watch/start'

/** As in preload/webgpu.ts. */
const CHANNEL = 'webgpu-host'
const SWEEPS = { get: 'webgpu-sweeps:get', put: 'webgpu-sweeps:put' } as const
const PAGE = 'webgpu/index.html'

let measuring: Session | undefined

/** A session of its own, in memory: libraries that the user installed are served to this page alone. */
function measuringSession(): Session {
  if (!measuring) {
    measuring = session.fromPartition('webgpu-measurement')
    serveMeasuringPages(measuring, (request) => (isLibraryUrl(request.url) ? serveLibraryFile(librariesFolder(), request) : undefined))
  }
  return measuring
}

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
    webPreferences: { ...safeWebPreferences(preloadFile('webgpu.cjs')), session: measuringSession(), backgroundThrottling: false },
  })
  const contents = window.webContents
  const isOurs = (event: IpcMainEvent | IpcMainInvokeEvent): boolean => event.senderFrame === contents.mainFrame && isPage(contents.getURL(), PAGE)
  const watch = watchFor(contents, isOurs)
  const sweeps = cacheSweeps(join(dataFolder(), 'webgpu-caches.json'))
  contents.ipc.handle(SWEEPS.get, (event, key: unknown) => (isOurs(event) ? sweeps.get(key) : undefined))
  contents.ipc.on(SWEEPS.put, (event, key: unknown, rates: unknown) => {
    if (isOurs(event)) sweeps.put(key, rates)
  })
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

/** Starting a page and its GPU process on a busy machine. */
const READY_MS = 30_000

/** Longest that the start of a host is put off. */
const PATIENCE_MS = 3000

/**
 * WebGPU inside the app: a hidden window of this Electron. It is opened once `after` has resolved, because a page and
 * a GPU process that start at the same time as the visible window keep the user waiting for that.
 */
export const webgpuHostKind = (after: Promise<void> = Promise.resolve(), exclusively = exclusiveLinks()): HostKind => ({
  id: 'webgpu',
  backends: backendsOf('webgpu'),
  start: async () => {
    await Promise.race([after, new Promise<void>((resolve) => setTimeout(resolve, PATIENCE_MS))])
    return exclusively(await connect(await openHostWindow(), READY_MS))
  },
})
