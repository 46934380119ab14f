import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { app, session, type Session, type WebContents } from 'electron'
import { APP_SCHEME } from './page-files'
import { isPage, pageOrigin } from './pages'

/** Copying rows is the one thing the pages need that Chromium asks permission for. */
const ALLOWED_PERMISSIONS: ReadonlySet<string> = new Set(['clipboard-sanitized-write'])

const fromOurPage = (contents: WebContents | null) => contents !== null && isPage(contents.getURL(), 'index.html')

/** Refuses every permission, device, download and request to a network that the app has no use for. */
function hardenSession(target: Session): void {
  target.setPermissionRequestHandler((contents, permission, done) => done(ALLOWED_PERMISSIONS.has(permission) && fromOurPage(contents)))
  target.setPermissionCheckHandler((contents, permission) => ALLOWED_PERMISSIONS.has(permission) && fromOurPage(contents))
  target.setDevicePermissionHandler(() => false)
  target.on('will-download', (event) => event.preventDefault())
  // Chromium downloads a dictionary for its spell checker at the first start, whatever the windows ask for.
  target.setSpellCheckerEnabled(false)
  target.setSpellCheckerLanguages([])
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

/** Switches that let another program steer the window; fuses shut the ones of Node, these are Chromium's. */
const DEBUGGING = ['remote-debugging-port', 'remote-debugging-pipe', 'remote-debugging-address', 'remote-debugging-targets'] as const

/** The part of Electron's app used here. */
interface ReleasedApp {
  isPackaged: boolean
  commandLine: { hasSwitch(name: string): boolean }
  getAppPath(): string
  exit(code: number): void
}

/** Whether `npm run package -- --test` packed the app at this path. */
function isTestBuild(appPath: string): boolean {
  const about: unknown = JSON.parse(readFileSync(join(appPath, 'package.json'), 'utf8'))
  return typeof about === 'object' && about !== null && 'opscopeTestBuild' in about && about.opscopeTestBuild === true
}

/** Ends a packed app that was told to open itself to a debugger. Call before anything else: Chromium would listen soon. */
export function refuseDebugging(app: ReleasedApp): void {
  if (!app.isPackaged) return
  const asked = DEBUGGING.find((name) => app.commandLine.hasSwitch(name))
  if (asked === undefined || isTestBuild(app.getAppPath())) return
  process.stderr.write(`opscope: --${asked} is refused: a packed app opens no port and lets no other program steer it\n`)
  // `app.exit` lets this turn end first; nothing below the call may run.
  app.exit(2)
  process.exit(2)
}
