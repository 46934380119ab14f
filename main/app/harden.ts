import { app, session, type Session, type WebContents } from 'electron'
import { APP_SCHEME } from './page-files'
import { isPage, pageOrigin } from './page-url'

/** Copying rows is the one thing the pages need that Chromium asks permission for. */
const ALLOWED_PERMISSIONS: ReadonlySet<string> = new Set(['clipboard-sanitized-write'])

const fromOurPage = (contents: WebContents | null) => contents !== null && isPage(contents.getURL(), 'index.html')

/** Refuses every permission, device, download and request to a network that the app has no use for. */
function hardenSession(target: Session): void {
  target.setPermissionRequestHandler((contents, permission, done) => done(ALLOWED_PERMISSIONS.has(permission) && fromOurPage(contents)))
  target.setPermissionCheckHandler((contents, permission) => ALLOWED_PERMISSIONS.has(permission) && fromOurPage(contents))
  target.setDevicePermissionHandler(() => false)
  target.on('will-download', (event) => event.preventDefault())
  const dev = new URL(pageOrigin())
  target.webRequest.onBeforeRequest((details, done) => {
    const { protocol, host } = new URL(details.url)
    const own = protocol === `${APP_SCHEME}:` || protocol === 'data:' || protocol === 'blob:' || protocol === 'devtools:'
    const development = (protocol === 'http:' || protocol === 'ws:') && host === dev.host
    done({ cancel: !own && !development })
  })
}

/** Keeps a page where it is: no navigation, redirect, frame, window or webview. */
function hardenContents(contents: WebContents): void {
  contents.on('will-attach-webview', (event) => event.preventDefault())
  contents.on('will-frame-navigate', (event) => {
    // The development server reloads the page it served.
    const reload = event.isMainFrame && !pageOrigin().startsWith(`${APP_SCHEME}:`) && event.url === contents.getURL()
    if (!reload) event.preventDefault()
  })
  contents.on('will-redirect', (event) => event.preventDefault())
  contents.setWindowOpenHandler(() => ({ action: 'deny' }))
}

/** Applies the rules to everything this process will ever show. Call once Electron is ready, before any window. */
export function harden(): void {
  hardenSession(session.defaultSession)
  app.on('session-created', hardenSession)
  app.on('web-contents-created', (_event, contents) => hardenContents(contents))
}

/** What every window gets; `preload` is a file of out/preload. */
export const safeWebPreferences = (preload: string) =>
  ({ preload, contextIsolation: true, sandbox: true, webSecurity: true, nodeIntegration: false, nodeIntegrationInWorker: false, nodeIntegrationInSubFrames: false, webviewTag: false, navigateOnDragDrop: false, spellcheck: false }) as const
