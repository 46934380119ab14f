import { existsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'

/** Folders that hold the worker: of a build (electron.vite.config.ts copies it there), and of the sources. */
const WORKER_FOLDERS = ['python', 'worker']

/** What CMake calls the guest library. */
const libraryName = (platform: NodeJS.Platform) => (platform === 'win32' ? 'opscope_guest.dll' : platform === 'darwin' ? 'libopscope_guest.dylib' : 'libopscope_guest.so')

/** The first of these paths in the nearest folder above `from`; of a packaged app where files that must be real stand. */
function nearest(from: string, relative: readonly string[], exists: (path: string) => boolean): string | undefined {
  for (let folder = resolve(from); ; folder = dirname(folder)) {
    const real = folder.replace(/\.asar(?=$|[\\/])/, '.asar.unpacked')
    const found = relative.map((path) => join(real, path)).find(exists)
    if (found !== undefined) return found
    if (dirname(folder) === folder) return undefined
  }
}

/** The folder of worker.py and probe.py. Undefined when it was not built. */
export function locateWorker(from: string, exists: (path: string) => boolean = existsSync): string | undefined {
  const worker = nearest(from, WORKER_FOLDERS.map((folder) => join(folder, 'worker.py')), exists)
  return worker && dirname(worker)
}

/** The guest library (native/guest/guest.h): OPSCOPE_GUEST when set, else that of native/build. Undefined when it was not built. */
export function locateGuest(from: string, env: NodeJS.ProcessEnv = process.env, exists: (path: string) => boolean = existsSync, platform = process.platform): string | undefined {
  const own = env['OPSCOPE_GUEST']
  return own ? resolve(own) : nearest(from, [join('native', 'build', libraryName(platform))], exists)
}
