import { join } from 'node:path'
import { app, protocol, session, type Session } from 'electron'
import { APP_ORIGIN, outFolder, APP_SCHEME, MEASURING_HEADERS, servePageFile } from './page-files'

/** electron-vite's server, only in a development build that was started by it. */
function devServer(): string | undefined {
  const url = process.env['ELECTRON_RENDERER_URL']
  return !app.isPackaged && url !== undefined && URL.canParse(url) && ['localhost', '127.0.0.1', '[::1]'].includes(new URL(url).hostname) ? new URL(url).origin : undefined
}

/** Origin of the app's pages. */
export const pageOrigin = (): string => devServer() ?? APP_ORIGIN

/** URL of a page, e.g. `index.html` or `webgpu/index.html`. */
export const pageUrl = (name: string): string => `${pageOrigin()}/${name}`

/** Whether `url` is that page, whatever its query and fragment. */
export function isPage(url: string, name: string): boolean {
  if (!URL.canParse(url)) return false
  const { protocol, host, pathname } = new URL(url)
  return `${protocol}//${host}` === pageOrigin() && (pathname === `/${name}` || (name === 'index.html' && pathname === '/'))
}

/** Makes app:// a secure origin of its own. Must be called before Electron is ready. */
export function registerAppScheme(): void {
  protocol.registerSchemesAsPrivileged([{ scheme: APP_SCHEME, privileges: { standard: true, secure: true, supportFetchAPI: true, codeCache: true } }])
}

/** Serves the built pages under app://. Call once Electron is ready. */
export function serveAppPages(): void {
  const folder = join(outFolder(), 'renderer')
  session.defaultSession.protocol.handle(APP_SCHEME, (request) => servePageFile(folder, request))
}

/** Serves the built pages to the session of the hidden page that measures WebGPU, and `more` of what it may load beside them. */
export function serveMeasuringPages(target: Session, more: (request: Request) => Promise<Response> | undefined): void {
  const folder = join(outFolder(), 'renderer')
  target.protocol.handle(APP_SCHEME, (request) => more(request) ?? servePageFile(folder, request, MEASURING_HEADERS))
}
