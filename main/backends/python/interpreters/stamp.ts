import { readdirSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { prefixOf } from './sources'

/** The folder of the interpreter that a virtual environment was made with; undefined where `prefix` is none. */
function baseOf(prefix: string): string | undefined {
  try {
    const home = /^home\s*=\s*(.+)$/m.exec(readFileSync(join(prefix, 'pyvenv.cfg'), 'utf8'))?.[1]
    return home && dirname(home.trim())
  } catch {
    return undefined
  }
}

/** What tells interpreters apart: the environment, or the program behind all links where it belongs to none. */
export function identityOf(path: string): string {
  const prefix = prefixOf(path)
  if (baseOf(prefix) !== undefined) return prefix
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

function modified(path: string): number | undefined {
  try {
    return statSync(path).mtimeMs
  } catch {
    return undefined
  }
}

/** Folders of packages below a prefix, by every convention there is. */
function packageFolders(prefix: string): string[] {
  const lib = join(prefix, 'lib')
  let versions: string[] = []
  try {
    versions = readdirSync(lib).filter((name) => /^python3/.test(name))
  } catch {
    // No such folder: another platform, or no Python any more.
  }
  return [join(prefix, 'Lib', 'site-packages'), ...versions.flatMap((version) => ['site-packages', 'dist-packages'].map((name) => join(lib, version, name)))]
}

/**
 * Changes when the interpreter is another or packages come and go: installing, removing or updating one changes the folder
 * it lies in. `home`: where packages of the user alone are.
 */
export function stampOf(path: string, home: string): string {
  const prefix = prefixOf(path)
  const base = baseOf(prefix)
  const prefixes = [prefix, ...(base === undefined ? [] : [base]), '/usr/local', join(home, '.local')]
  const times = [...new Set(prefixes.flatMap(packageFolders))].flatMap((folder) => {
    const time = modified(folder)
    return time === undefined ? [] : [`${folder}=${time}`]
  })
  return [`${identityOf(path)}=${modified(path) ?? 'gone'}`, ...times].join('|')
}
