import { existsSync, mkdirSync } from 'node:fs'
import { homedir, userInfo } from 'node:os'
import { dirname, isAbsolute, posix, resolve, win32 } from 'node:path'

/** Where everything Opscope keeps lies. The app and the command line use the same folder. */
export interface DataPaths {
  folder: string
  history: string
  settings: string
  /** HTML reports written without a dialog, one file per session. */
  reports: string
  /** Files imported last. */
  recent: string
  /** Pinned baselines, and what later sessions came to against them. */
  baselines: string
  /** Reports of faults of the app, one folder each. */
  crashes: string
}

interface Surroundings {
  env: Readonly<Record<string, string | undefined>>
  platform: NodeJS.Platform
  home: string
}

/** The user's home folder: that of the account where the environment names none. Empty where the system knows none either. */
export function homeFolder(named = homedir()): string {
  if (isAbsolute(named)) return named
  try {
    return userInfo().homedir
  } catch {
    return ''
  }
}

const here = (): Surroundings => ({ env: process.env, platform: process.platform, home: homeFolder() })

/**
 * The data folder: OPSCOPE_DATA_DIR where set, else the platform's place for application data
 * (XDG base directories on Linux, which ask that a relative path be ignored). Throws where there is no home folder to
 * put it into: a relative path would scatter data over working directories.
 */
export function dataFolder({ env, platform, home }: Surroundings = here()): string {
  const own = env['OPSCOPE_DATA_DIR']
  if (own) return resolve(own)
  const { isAbsolute: isWhole, join } = platform === 'win32' ? win32 : posix
  const [named, inHome] = platform === 'win32' ? [env['APPDATA'], ['AppData', 'Roaming']] : platform === 'darwin' ? [undefined, ['Library', 'Application Support']] : [env['XDG_DATA_HOME'], ['.local', 'share']]
  if (named && isWhole(named)) return join(named, 'opscope')
  if (!isWhole(home)) throw new Error('there is no home folder to keep the history in. Set HOME, or set OPSCOPE_DATA_DIR to a folder that can be written.')
  return join(home, ...inHome, 'opscope')
}

/** The files inside a data folder. Creates nothing. */
export function dataPaths(folder = dataFolder(), platform: NodeJS.Platform = process.platform): DataPaths {
  const { join } = platform === 'win32' ? win32 : posix
  return { folder, history: join(folder, 'history.sqlite'), settings: join(folder, 'settings.json'), reports: join(folder, 'reports'), recent: join(folder, 'recent.json'), baselines: join(folder, 'baselines.json'), crashes: join(folder, 'crashes') }
}

/**
 * Makes a folder and those it lies in, readable by their owner alone. One at a time: Node's own `recursive` never ends
 * where a file system, such as /proc, answers that a folder to be made is not there.
 */
export function makeFolder(folder: string): void {
  if (existsSync(folder)) return
  const parent = dirname(folder)
  if (parent !== folder) makeFolder(parent)
  try {
    mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    // Another process may have made it meanwhile.
    if (!existsSync(folder)) throw error
  }
}

/** The data folder, made when missing. Throws with the folder's name when that fails. */
export function openDataFolder(paths = dataPaths()): DataPaths {
  try {
    makeFolder(paths.folder)
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new Error(`cannot use the data folder ${paths.folder}: ${why}. Set OPSCOPE_DATA_DIR to a folder that can be written.`, { cause: error })
  }
  return paths
}

/** The account the app runs under, for finding its name in what is to be shared; none where the system does not know it. */
export function thisUser(): { users: string[] } {
  try {
    return { users: [userInfo().username] }
  } catch {
    return { users: [] }
  }
}
