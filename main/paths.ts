import { mkdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { isAbsolute, posix, win32 } from 'node:path'

/** Where everything Opscope keeps lies. The app and the command line use the same folder. */
export interface DataPaths {
  folder: string
  history: string
  settings: string
  /** HTML reports written without a dialog, one file per session. */
  reports: string
}

interface Surroundings {
  env: Readonly<Record<string, string | undefined>>
  platform: NodeJS.Platform
  home: string
}

const here = (): Surroundings => ({ env: process.env, platform: process.platform, home: homedir() })

/**
 * The data folder: OPSCOPE_DATA_DIR where set, else the platform's place for application data
 * (XDG base directories on Linux, which ask that a relative path be ignored).
 */
export function dataFolder({ env, platform, home }: Surroundings = here()): string {
  const own = env['OPSCOPE_DATA_DIR']
  if (own) return own
  if (platform === 'win32') return win32.join(env['APPDATA'] || win32.join(home, 'AppData', 'Roaming'), 'opscope')
  if (platform === 'darwin') return posix.join(home, 'Library', 'Application Support', 'opscope')
  const xdg = env['XDG_DATA_HOME']
  return posix.join(xdg && isAbsolute(xdg) ? xdg : posix.join(home, '.local', 'share'), 'opscope')
}

/** The files inside a data folder. Creates nothing. */
export function dataPaths(folder = dataFolder(), platform: NodeJS.Platform = process.platform): DataPaths {
  const { join } = platform === 'win32' ? win32 : posix
  return { folder, history: join(folder, 'history.sqlite'), settings: join(folder, 'settings.json'), reports: join(folder, 'reports') }
}

/** The data folder, made when missing and readable by its owner alone. Throws with the folder's name when that fails. */
export function openDataFolder(paths = dataPaths()): DataPaths {
  try {
    mkdirSync(paths.folder, { recursive: true, mode: 0o700 })
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new Error(`cannot use the data folder ${paths.folder}: ${why}. Set OPSCOPE_DATA_DIR to a folder that can be written.`, { cause: error })
  }
  return paths
}
