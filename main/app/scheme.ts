import { join } from 'node:path'
import { protocol, session } from 'electron'
import { outFolder } from './out-folder'
import { APP_SCHEME, servePageFile } from './page-files'

/** Makes app:// a secure origin of its own. Must be called before Electron is ready. */
export function registerAppScheme(): void {
  protocol.registerSchemesAsPrivileged([{ scheme: APP_SCHEME, privileges: { standard: true, secure: true, supportFetchAPI: true, codeCache: true } }])
}

/** Serves the built pages under app://. Call once Electron is ready. */
export function serveAppPages(): void {
  const folder = join(outFolder(), 'renderer')
  session.defaultSession.protocol.handle(APP_SCHEME, (request) => servePageFile(folder, request))
}
